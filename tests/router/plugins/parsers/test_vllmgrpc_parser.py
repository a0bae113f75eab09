from router.framework.plugin import NoParameters
from router.payloads.opaque import OpaquePayload
from router.payloads.vllm_engine import EnginePayload
from router.payloads.vllm_engine_usage import EmbedUsageReader, GenerateUsageReader
from router.plugins.parsers.vllmgrpc_parser import VllmgrpcParser
from tests.support.engine import make_handle
from tests.support.protobuf import field, frame, packed

SERVICE = "/vllm.grpc.engine.VllmEngine"
BODY = frame(field(2, field(2, packed([1, 2]))))


def parser() -> VllmgrpcParser:
    return VllmgrpcParser("vllmgrpc-parser", NoParameters(), make_handle())


def test_methods_are_told_apart() -> None:
    generate, embed = (parser().parse(BODY, f"{SERVICE}/{method}", {}) for method in ("Generate", "Embed"))

    assert isinstance(generate, EnginePayload)
    assert isinstance(embed, EnginePayload)
    assert (generate.embeds, embed.embeds) == (False, True)


def test_other_methods_pass_unread() -> None:
    payload = parser().parse(b"\x01", f"{SERVICE}/HealthCheck", {})

    assert isinstance(payload, OpaquePayload)
    assert payload.skip_response


def test_reader_follows_the_method() -> None:
    generate, embed = (parser().parse(BODY, f"{SERVICE}/{method}", {}) for method in ("Generate", "Embed"))

    assert isinstance(parser().usage_reader(generate, streaming=True), GenerateUsageReader)
    assert isinstance(parser().usage_reader(embed, streaming=False), EmbedUsageReader)


def test_claims_and_protocols() -> None:
    assert parser().claims() == ("vllm.grpc.engine.VllmEngine/Generate", "vllm.grpc.engine.VllmEngine/Embed")
    assert parser().protocols() == {"kubernetes.io/h2c"}
