from router.framework.plugin import NoParameters
from router.payloads.generate import GeneratePayload
from router.payloads.usage import JsonUsageReader, StreamUsageReader
from router.plugins.parsers.vllmhttp_parser import VllmhttpParser
from tests.support.engine import make_handle


def parser() -> VllmhttpParser:
    return VllmhttpParser("vllmhttp-parser", NoParameters(), make_handle())


def test_J45_token_ids_are_read() -> None:
    payload = parser().parse(b'{"model":"m","token_ids":[1]}', "/inference/v1/generate", {})

    assert isinstance(payload, GeneratePayload)
    assert payload.rewritable


def test_reader_follows_the_kind_of_response() -> None:
    payload = parser().parse(b'{"token_ids":[1]}', "/inference/v1/generate", {})

    assert isinstance(parser().usage_reader(payload, streaming=True), StreamUsageReader)
    assert isinstance(parser().usage_reader(payload, streaming=False), JsonUsageReader)


def test_claims_and_protocols() -> None:
    assert parser().claims() == ("inference/v1/generate",)
    assert parser().protocols() == {"http", "kubernetes.io/h2c"}
