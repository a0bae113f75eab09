"""Sends a request through the prefill stage when the decode endpoint would have to compute many tokens itself."""

from dataclasses import dataclass

from router.framework.attributes.prefix_match import prefix_match
from router.framework.attributes.tokenized_prompt import tokenized_prompt
from router.framework.endpoint import Endpoint
from router.framework.errors import ConfigError
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Decider

TYPE = "prefix-based-pd-decider"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    non_cached_tokens: int = 0  # so many tokens to compute make a prefill stage worth it; 0: never
    prompt_tokens: int = 0  # shorter prompts are never worth it; 0: any length may be

    def __post_init__(self) -> None:
        if self.non_cached_tokens < 0:
            raise ConfigError(f"{self.non_cached_tokens} is negative", field="nonCachedTokens")
        if self.prompt_tokens < 0:
            raise ConfigError(f"{self.prompt_tokens} is negative", field="promptTokens")


class PrefixBasedPdDecider(Decider):
    """Yes when the decode endpoint lacks `nonCachedTokens` tokens or more of the prompt."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._parameters = parameters
        self._tokens = tokenized_prompt()
        self._match = prefix_match()

    def consumes(self) -> Consumes:
        """Tokens and prefix matches."""
        return Consumes(required=frozenset({self._tokens, self._match}))

    def decide(self, request: InferenceRequest, endpoint: Endpoint | None) -> bool:
        """Compare what is missing with the threshold; blocks count once, whatever tier holds them."""
        wanted = self._parameters.non_cached_tokens
        if wanted == 0 or endpoint is None:
            return False
        tokens = request.read(self._tokens)
        length = tokens.length if tokens else 0
        if length < max(wanted, self._parameters.prompt_tokens):
            return False
        match = endpoint.read(self._match)
        return match is not None and length - match.cached_blocks * match.block_size_tokens >= wanted
