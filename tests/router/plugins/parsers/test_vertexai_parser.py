import pytest

from router.engine.extproc.parsers import ParserTable
from router.framework.errors import RequestError
from router.framework.parsing import Payload
from router.framework.plugin import NoParameters
from router.payloads.chat import ChatPayload
from router.payloads.http_body import HttpBodyUsageReader
from router.payloads.opaque import OpaquePayload
from router.payloads.responses import ResponsesPayload
from router.plugins.parsers.vertexai_parser import VertexaiParser
from tests.support.engine import REFERENCE, make_handle
from tests.support.protobuf import field, frame

SERVICE = "/google.cloud.aiplatform.v1beta1.PredictionService"
CHAT = b'{"model":"m","messages":[{"role":"user","content":"x"}]}'
BARE = b'{"messages":[{"role":"user","content":[{"type":"image_url","image_url":"u"}]}]}'


def request(data: bytes) -> bytes:
    return frame(field(2, field(2, data)))


def parser() -> VertexaiParser:
    return VertexaiParser("vertexai-parser", NoParameters(), make_handle())


@pytest.mark.parametrize(
    ("method", "data", "kind"),
    [
        ("ChatCompletions", CHAT, ChatPayload),
        ("RawPredict", CHAT, ChatPayload),
        ("StreamRawPredict", b'{"input":"x"}', ResponsesPayload),
        ("Predict", b"", OpaquePayload),
    ],
)
def test_method_decides_how_it_is_read(method: str, data: bytes, kind: type[Payload]) -> None:
    assert type(parser().parse(request(data), f"{SERVICE}/{method}", {})) is kind


def test_other_methods_pass_unread() -> None:
    assert parser().parse(b"", f"{SERVICE}/Predict", {}).skip_response


def test_reference_refuses_bare_image_urls() -> None:
    reference = VertexaiParser("vertexai-parser", NoParameters(), make_handle(compat=REFERENCE))

    assert isinstance(parser().parse(request(BARE), f"{SERVICE}/ChatCompletions", {}), ChatPayload)
    with pytest.raises(RequestError, match="must have valid messages field"):
        reference.parse(request(BARE), f"{SERVICE}/ChatCompletions", {})


@pytest.mark.parametrize("whole_segments", [True, False])
@pytest.mark.parametrize("service", [SERVICE, SERVICE.replace("v1beta1", "v1"), "/PredictionService"])
@pytest.mark.parametrize("method", ["ChatCompletions", "RawPredict", "StreamRawPredict"])
def test_its_methods_find_it(service: str, method: str, whole_segments: bool) -> None:
    table = ParserTable([parser()], whole_segments=whole_segments)

    assert table.resolve(f"{service}/{method}").name == "vertexai-parser"


def test_reader_and_protocols() -> None:
    payload = parser().parse(request(CHAT), f"{SERVICE}/ChatCompletions", {})

    assert isinstance(parser().usage_reader(payload, streaming=False), HttpBodyUsageReader)
    assert parser().protocols() == {"kubernetes.io/h2c"}
