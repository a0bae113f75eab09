from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from router.engine.control.context import RequestContext
from router.engine.control.model_rewrite import ModelRewrite, NoRules
from router.framework.errors import ErrorCode, RequestError
from router.framework.parsing import Payload
from router.payloads.completions import parse_completions
from router.payloads.generate import parse_sglang_generate
from router.payloads.opaque import OpaquePayload

SGLANG = b'{"input_ids":[1]}'
BODY = b'{"model":"m","prompt":"x"}'


@dataclass
class OneRule:
    chosen: str

    def target(self, model: str, headers: Mapping[str, str]) -> str | None:
        return self.chosen if model == "m" else None


def context(payload: Payload, headers: dict[str, str] | None = None) -> RequestContext:
    size = len(payload.raw)
    return RequestContext(id="1", external_id="1", headers=headers or {}, payload=payload, size_bytes=size, received_at=0.0, subset=None)


def test_body_stays_without_a_rewrite() -> None:
    made = context(parse_completions(BODY))

    ModelRewrite(NoRules()).apply(made)

    assert (made.target_model, made.body, made.size_bytes) == ("m", None, len(BODY))


@pytest.mark.parametrize(
    ("headers", "target"),
    [
        ({"x-llm-d-model-name-rewrite": "new"}, "new"),
        ({"x-gateway-model-name-rewrite": "old"}, "old"),
        ({"x-llm-d-model-name-rewrite": "new", "x-gateway-model-name-rewrite": "old"}, "new"),
    ],
)
def test_header_names_the_target(headers: dict[str, str], target: str) -> None:
    made = context(parse_completions(BODY), headers)

    ModelRewrite(NoRules()).apply(made)

    assert made.target_model == target
    assert made.body == BODY.replace(b'"m"', f'"{target}"'.encode())
    assert made.size_bytes == len(BODY) + len(target) - 1


def test_a_body_without_model_names_stays_as_it_is() -> None:
    made = context(parse_sglang_generate(SGLANG), {"x-llm-d-model-name-rewrite": "new"})

    ModelRewrite(OneRule("canary")).apply(made)

    assert (made.target_model, made.body) == ("", None)


def test_matching_rule_replaces_the_target() -> None:
    made = context(parse_completions(BODY))

    ModelRewrite(OneRule("canary")).apply(made)

    assert made.target_model == "canary"


def test_rule_that_chooses_the_body_s_model_changes_nothing() -> None:
    made = context(parse_completions(BODY))

    ModelRewrite(OneRule("m")).apply(made)

    assert made.body is None


def test_body_without_model_is_refused() -> None:
    with pytest.raises(RequestError, match="model not found in request body") as caught:
        ModelRewrite(NoRules()).apply(context(parse_completions(b'{"prompt":"x"}')))

    assert caught.value.code is ErrorCode.BadRequest


def test_body_without_model_takes_it_from_the_header() -> None:
    made = context(parse_completions(b'{"prompt":"x"}'), {"x-llm-d-model-name-rewrite": "new"})

    ModelRewrite(NoRules()).apply(made)

    assert made.body == b'{"model":"new","prompt":"x"}'


def test_opaque_body_needs_no_model() -> None:
    made = context(OpaquePayload(raw=b"\x00"), {"x-llm-d-model-name-rewrite": "new"})

    ModelRewrite(NoRules()).apply(made)

    assert (made.target_model, made.body) == ("", None)
