import pytest

from router.framework.errors import RequestError
from router.framework.parsing import Payload
from router.framework.plugin import NoParameters
from router.payloads.chat import ChatPayload
from router.payloads.completions import CompletionsPayload
from router.payloads.conversations import ConversationsPayload
from router.payloads.embeddings import EmbeddingsPayload
from router.payloads.image_generation import ImageGenerationPayload
from router.payloads.responses import ResponsesPayload
from router.payloads.usage import JsonUsageReader, StreamUsageReader
from router.plugins.parsers.openai_parser import OpenaiParser
from tests.support.engine import REFERENCE, make_handle

# Every member that any of the APIs asks for.
BODY = b'{"model":"m","prompt":"p","messages":[{"role":"user","content":"x"}],"input":"i","items":[1]}'


def parser() -> OpenaiParser:
    return OpenaiParser("openai-parser", NoParameters(), make_handle())


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/v1/chat/completions", ChatPayload),
        ("/v1/chat/completions/", ChatPayload),
        ("/v1/chat/completions/render", ChatPayload),
        ("/v1/completions", CompletionsPayload),
        ("/v1/completions/render", CompletionsPayload),
        ("/v1/embeddings", EmbeddingsPayload),
        ("/v1/responses", ResponsesPayload),
        ("/v1/conversations", ConversationsPayload),
        ("/v1/images/generations", ImageGenerationPayload),
        ("/anything", CompletionsPayload),
    ],
)
def test_path_decides_the_api(path: str, kind: type[Payload]) -> None:
    assert type(parser().parse(BODY, path, {})) is kind


def test_reference_refuses_bare_image_urls() -> None:
    body = b'{"messages":[{"role":"user","content":[{"type":"image_url","image_url":"u"}]}]}'
    reference = OpenaiParser("openai-parser", NoParameters(), make_handle(compat=REFERENCE))

    assert isinstance(parser().parse(body, "/v1/chat/completions", {}), ChatPayload)
    with pytest.raises(RequestError, match="must have valid messages field"):
        reference.parse(body, "/v1/chat/completions", {})


def test_reader_follows_the_kind_of_response() -> None:
    payload = parser().parse(BODY, "/v1/completions", {})

    assert isinstance(parser().usage_reader(payload, streaming=True), StreamUsageReader)
    assert isinstance(parser().usage_reader(payload, streaming=False), JsonUsageReader)


def test_claims_and_protocols() -> None:
    assert len(parser().claims()) == 8
    assert parser().protocols() == {"http", "kubernetes.io/h2c"}
