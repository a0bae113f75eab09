from typing import Any

import pytest

from router.framework.control import ResponseProgress, TerminationCause
from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.framework.parsing import Usage
from router.plugins.response.request_attribute_reporter import TYPE, Parameters, RequestAttributeReporter
from tests.support.engine import candidate, inference_request, make_handle, result_of

USAGE = Usage(prompt_tokens=100, completion_tokens=20, total_tokens=120, cached_tokens=64)


def parameters(expression: str, condition: str = "", **key: str) -> dict[str, Any]:
    return {"attributes": [{"key": {"name": "cost", **key}, "expression": expression, "condition": condition}]}


def reported(
    given: dict[str, Any], usage: Usage | None = USAGE, cause: TerminationCause | None = TerminationCause.NATURAL
) -> dict[str, Any] | None:
    plugin = RequestAttributeReporter(TYPE, decode(Parameters, given), make_handle())
    return plugin.on_progress(inference_request(), result_of(default=candidate()), ResponseProgress(first=False, usage=usage, cause=cause))


def test_the_number_goes_where_the_key_says() -> None:
    assert reported(parameters("usage.prompt_tokens + usage.completion_tokens")) == {"envoy.lb": {"cost": 120}}
    assert reported(parameters("usage.total_tokens", namespace="mine")) == {"mine": {"cost": 120}}
    assert reported(parameters("usage.prompt_tokens_details.cached_tokens")) == {"envoy.lb": {"cost": 64}}


@pytest.mark.parametrize(
    ("condition", "is_reported"), [("has(usage.prompt_tokens)", True), ("has(usage.gone)", False), ("usage.gone > 1", False), ("1", False)]
)
def test_the_condition_decides(condition: str, is_reported: bool) -> None:
    assert (reported(parameters("usage.prompt_tokens", condition)) is not None) is is_reported


@pytest.mark.parametrize("expression", ["usage.gone", "1.5", "true", "'text'", "1e308 * 10"])
def test_what_is_no_whole_number_is_not_reported(expression: str) -> None:
    assert reported(parameters(expression)) is None


def test_a_response_without_usage_reports_nothing() -> None:
    assert reported(parameters("usage.prompt_tokens"), usage=None) is None
    assert reported(parameters("usage.prompt_tokens"), usage=Usage(completion_tokens=1)) is None


@pytest.mark.parametrize("cause", [None, TerminationCause.CLIENT_DISCONNECT, TerminationCause.ERROR])
def test_only_a_finished_response_is_reported(cause: TerminationCause | None) -> None:
    assert reported(parameters("usage.prompt_tokens"), cause=cause) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "0 are given; exactly one is needed"),
        ({"attributes": parameters("1")["attributes"] * 2}, "2 are given"),
        (parameters("1 +"), "'1 \\+' cannot be used: a value is expected"),
        (parameters("1", "size(a)"), "there is no function size"),
        ({"attributes": [{"key": {}, "expression": "1"}]}, "required"),
    ],
)
def test_what_cannot_be_used_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        decode(Parameters, given)
