"""Sends every request with media through the encode stage."""

from router.framework.attributes.tokenized_prompt import tokenized_prompt
from router.framework.endpoint import Endpoint
from router.framework.plugin import Consumes, Handle, NoParameters
from router.framework.request import InferenceRequest
from router.framework.scheduling import Decider

TYPE = "always-disagg-multimodal-decider"
Parameters = NoParameters


class AlwaysDisaggMultimodalDecider(Decider):
    """Yes when any prompt carries a media item that the token producer recognised."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._tokens = tokenized_prompt()

    def consumes(self) -> Consumes:
        """The tokens, which tell where media are."""
        return Consumes(required=frozenset({self._tokens}))

    def decide(self, request: InferenceRequest, endpoint: Endpoint | None) -> bool:
        """Whether there are media."""
        tokens = request.read(self._tokens)
        return tokens is not None and tokens.has_media
