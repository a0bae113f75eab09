import pytest

from router.framework.attributes.tokenized_prompt import Prompt, TokenizedPrompt, tokenized_prompt
from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.framework.request import InferenceRequest
from router.plugins.scorers.context_length_aware import TYPE, ContextLengthAware, Parameters
from tests.support.engine import inference_request, labelled, make_handle, names_of

LABEL = "llm-d.ai/context-length-range"


def request_of(tokens: int) -> InferenceRequest:
    request = inference_request()
    request.write(tokenized_prompt(), TokenizedPrompt(prompts=(Prompt(packed=bytes(4 * tokens)),)))
    return request


@pytest.mark.parametrize(
    ("tokens", "ranges", "expected"),
    [
        pytest.param(0, ["0-20", "0-10000", "500-1000", None], [0.999022, 0.755, 0.2, 0.5], id="H33"),
        pytest.param(9000, ["0-2048", "0-8192"], [0.037726, 0.165929], id="H34"),
        pytest.param(50, ["500-2048", "100-1024"], [0.206897, 0.285714], id="H35"),
        pytest.param(14999, ["0-15000", "15001-20000"], [0.496014, 0.299401], id="H36"),
        pytest.param(4096, ["4096-4096"], [1.0], id="H37"),
        pytest.param(10, ["", "10", "1-2-3", "20-10", "a-b", "-5-10", "²-9"], [0.0] * 7, id="unreadable"),
    ],
)
def test_how_well_a_range_fits(tokens: int, ranges: list[str | None], expected: list[float]) -> None:
    plugin = ContextLengthAware(TYPE, Parameters(), make_handle())

    scores = plugin.score(request_of(tokens), labelled(*ranges, label=LABEL))

    assert list(scores.values()) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize(
    ("enabled", "kept"), [pytest.param(True, ["0", "2"], id="H38"), pytest.param(False, ["0", "1", "2", "3"], id="off")]
)
def test_ranges_that_do_not_hold_the_prompt_are_removed(enabled: bool, kept: list[str]) -> None:
    plugin = ContextLengthAware(TYPE, Parameters(enable_filtering=enabled), make_handle())

    assert names_of(plugin.filter(request_of(42), labelled("0-52", "142-242", None, "nonsense", label=LABEL))) == kept


def test_an_empty_label_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="must not be empty"):
        decode(Parameters, {"label": ""})
