import pytest

from router.engine.control.conditional_decode import require_cached_prefix
from router.framework.attributes.prefix_match import PrefixMatch, prefix_match
from router.framework.errors import ErrorCode, RequestError
from tests.support.engine import candidate, inference_request, result_of

KEYS = (prefix_match("first"), prefix_match("second"))


@pytest.mark.parametrize("prefer", ["if-available", "respond-async, IF-Available;x=1", " wait=5 ,if-available "])
@pytest.mark.parametrize("matched", [None, 0])
def test_uncached_prompt_is_refused_on_request(prefer: str, matched: int | None) -> None:
    target = candidate()
    if matched is not None:
        target.write(KEYS[0], PrefixMatch(matched_blocks=matched, total_blocks=3, block_size_tokens=64))

    with pytest.raises(RequestError, match="no decode worker has the requested KV cache") as caught:
        require_cached_prefix(inference_request(headers={"prefer": prefer}), result_of(default=target), KEYS)

    assert caught.value.code is ErrorCode.PreconditionFailed


@pytest.mark.parametrize("prefer", [None, "", "respond-async", "not-if-available", "x;if-available"])
def test_other_preferences_ask_for_nothing(prefer: str | None) -> None:
    headers = {} if prefer is None else {"prefer": prefer}

    require_cached_prefix(inference_request(headers=headers), result_of(default=candidate()), KEYS)


def test_one_matched_block_is_enough() -> None:
    target = candidate()
    target.write(KEYS[1], PrefixMatch(matched_blocks=1, total_blocks=3, block_size_tokens=64))

    require_cached_prefix(inference_request(headers={"prefer": "if-available"}), result_of(default=target), KEYS)
