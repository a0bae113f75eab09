import pytest

from router.framework.errors import RequestError
from router.framework.parsing import Usage
from router.framework.plugin import NoParameters
from router.payloads.generate import GeneratePayload
from router.plugins.parsers.sglanghttp_parser import SglanghttpParser
from tests.support.engine import REFERENCE, make_handle


def parser() -> SglanghttpParser:
    return SglanghttpParser("sglanghttp-parser", NoParameters(), make_handle())


def test_token_ids_are_read() -> None:
    assert isinstance(parser().parse(b'{"input_ids":[1]}', "/generate", {}), GeneratePayload)


def test_reference_refuses_text() -> None:
    reference = SglanghttpParser("sglanghttp-parser", NoParameters(), make_handle(compat=REFERENCE))

    assert isinstance(parser().parse(b'{"text":"x"}', "/generate", {}), GeneratePayload)
    with pytest.raises(RequestError, match="must have input_ids field"):
        reference.parse(b'{"text":"x"}', "/generate", {})


def test_usage_of_both_kinds_of_response() -> None:
    payload = parser().parse(b'{"input_ids":[1]}', "/generate", {})
    stream, document = parser().usage_reader(payload, streaming=True), parser().usage_reader(payload, streaming=False)

    stream.feed(b'data: {"meta_info":{"prompt_tokens":3}}\n\n')
    document.feed(b'{"meta_info":{"prompt_tokens":3}}')

    assert stream.usage() == document.usage() == Usage(prompt_tokens=3, total_tokens=3)


def test_claims_and_protocols() -> None:
    assert parser().claims() == ("generate",)
    assert parser().claims_whole_paths()
    assert parser().protocols() == {"http", "kubernetes.io/h2c"}
