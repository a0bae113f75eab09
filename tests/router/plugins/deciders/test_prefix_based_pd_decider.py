import pytest

from router.framework.attributes.prefix_match import PrefixMatch, prefix_match
from router.framework.attributes.tokenized_prompt import Prompt, TokenizedPrompt, tokenized_prompt
from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.plugins.deciders.prefix_based_pd_decider import TYPE, Parameters, PrefixBasedPdDecider
from tests.support.engine import candidate, inference_request, make_handle


def tokens(count: int) -> TokenizedPrompt:
    return TokenizedPrompt(prompts=(Prompt(packed=bytes(4 * count)),))


def cached(blocks: int, *, block_size: int = 1, weighted: int | None = None) -> PrefixMatch:
    matched = blocks if weighted is None else weighted
    return PrefixMatch(matched_blocks=matched, total_blocks=10_000, block_size_tokens=block_size, cached_blocks=blocks)


@pytest.mark.parametrize(
    ("wanted", "shortest", "length", "match", "answer"),
    [
        pytest.param(0, 0, 10, cached(5), False, id="I01"),
        pytest.param(5, 20, 10, cached(0), False, id="I03"),
        pytest.param(20, 0, 10, cached(0), False, id="I04"),
        pytest.param(5, 10, 10, cached(5), True, id="I05"),
        pytest.param(5, 0, 10, cached(8), False, id="I06"),
        pytest.param(5, 0, 10, cached(5), True, id="I07"),
        pytest.param(3, 0, 10, cached(2), True, id="I08"),
        pytest.param(1, 0, 10, cached(10), False, id="I09"),
        pytest.param(5, 0, 10, cached(0), True, id="I10"),
        pytest.param(512, 0, 4096, cached(240, block_size=16, weighted=192), False, id="I12"),
        pytest.param(5, 0, 10, None, False, id="no-match-known"),
    ],
)
def test_tokens_to_compute_decide(wanted: int, shortest: int, length: int, match: PrefixMatch | None, answer: bool) -> None:
    parameters = decode(Parameters, {"nonCachedTokens": wanted, "promptTokens": shortest})
    request, endpoint = inference_request(), candidate()
    request.write(tokenized_prompt(), tokens(length))
    if match is not None:
        endpoint.write(prefix_match(), match)

    assert PrefixBasedPdDecider(TYPE, parameters, make_handle()).decide(request, endpoint) is answer


def test_I02_no_without_a_decode_endpoint() -> None:
    request = inference_request()
    request.write(tokenized_prompt(), tokens(10))

    assert not PrefixBasedPdDecider(TYPE, Parameters(non_cached_tokens=5), make_handle()).decide(request, None)


@pytest.mark.parametrize("field", ["nonCachedTokens", "promptTokens"])
def test_I11_negative_numbers_are_refused(field: str) -> None:
    with pytest.raises(ConfigError, match="-1 is negative") as raised:
        decode(Parameters, {field: -1})

    assert raised.value.field == field
