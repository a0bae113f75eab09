"""Guesses which endpoint holds which part of a prompt in its prefix cache, from where earlier prompts were sent.

Prompts are cut into blocks with chained hashes; an endpoint that was chosen for a prompt is thought to hold its blocks until newer
ones push them out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from logging import getLogger
from typing import Any

from router.framework.attributes.key import DataKey
from router.framework.attributes.prefix_match import PrefixMatch, prefix_match
from router.framework.attributes.tokenized_prompt import BYTES_PER_TOKEN, TokenizedPrompt, tokenized_prompt
from router.framework.control import DataProducer, EndpointListener, PreRequest
from router.framework.endpoint import Endpoint, LiveEndpoint
from router.framework.errors import ConfigError
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult
from router.prefix.hashes import block_hashes, chain_seed
from router.prefix.index import PrefixIndex

TYPE = "approx-prefix-cache-producer"
DEFAULT_BLOCK_TOKENS = 16
MIN_BLOCK_TOKENS = 64  # smaller blocks cost more than they tell
DEFAULT_CAPACITY = 31_250
PREFILL_PROFILE = "prefill"
_SHOWN_ENDPOINTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    auto_tune: bool = True  # take block size and capacity from what an endpoint reports
    block_size_tokens: int = DEFAULT_BLOCK_TOKENS
    block_size: int = 0  # deprecated name of the above
    max_prefix_tokens_to_match: int = 131_072  # 0: the next limit decides
    max_prefix_blocks_to_match: int = 2048  # deprecated; 0: no limit
    lru_capacity_per_server: int = DEFAULT_CAPACITY  # blocks; zero or less: the default

    def __post_init__(self) -> None:
        if not self.auto_tune and self.block_tokens <= 0:
            raise ConfigError(f"{self.block_tokens} is not above 0, as it must be without autoTune", field="blockSizeTokens")
        if self.max_prefix_tokens_to_match < 0:
            raise ConfigError(f"{self.max_prefix_tokens_to_match} is negative", field="maxPrefixTokensToMatch")

    @property
    def block_tokens(self) -> int:
        """The configured block size under either name."""
        old_name = self.block_size_tokens == DEFAULT_BLOCK_TOKENS and self.block_size > 0
        return self.block_size if old_name else self.block_size_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixBlocks:
    """A request's blocks, one list for each prompt."""

    hashes: tuple[list[int], ...]
    block_tokens: int


class ApproxPrefixCacheProducer(DataProducer, PreRequest, EndpointListener):
    """Writes `PrefixMatch` on every candidate; records the blocks at the chosen endpoints."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._parameters = parameters
        self._metrics = handle.metrics
        self._reference = handle.compat.reference
        self._tokens = tokenized_prompt()
        self._match = prefix_match(name)
        self._blocks = DataKey("PrefixBlocks", name, PrefixBlocks)
        self._index: PrefixIndex[LiveEndpoint] = PrefixIndex()
        if parameters.block_tokens != DEFAULT_BLOCK_TOKENS and parameters.block_tokens < MIN_BLOCK_TOKENS:
            fields = {"plugin": name, "blockSizeTokens": parameters.block_tokens, "used": MIN_BLOCK_TOKENS}
            getLogger(__name__).warning("prefix blocks are larger than configured", extra={"fields": fields})

    def consumes(self) -> Consumes:
        """The tokens."""
        return Consumes(required=frozenset({self._tokens}))

    def produces(self) -> frozenset[DataKey[Any]]:
        """The match of each endpoint."""
        return frozenset({self._match, self._blocks})

    async def produce(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> None:
        """Match the request's blocks against the index."""
        tokens = request.read(self._tokens)
        if tokens is None:
            return
        size = self._block_tokens(endpoints)
        blocks = PrefixBlocks(hashes=self._hash(request.target_model, tokens, size), block_tokens=size)
        request.write(self._blocks, blocks)
        look_up = self._index.anywhere if self._reference else self._index.unbroken
        found = [look_up(hashes) for hashes in blocks.hashes]
        total = sum(len(hashes) for hashes in blocks.hashes)
        matches: dict[int, PrefixMatch] = {}  # most endpoints share one
        for endpoint in endpoints:
            matched = sum([counts.get(endpoint.live, 0) for counts in found])
            match = matches.get(matched)
            if match is None:
                match = PrefixMatch(matched_blocks=matched, total_blocks=total, block_size_tokens=size, cached_blocks=matched)
                matches[matched] = match
            endpoint.write(self._match, match)

    async def before_request(self, request: InferenceRequest, result: SchedulingResult) -> None:
        """Record the blocks at the endpoint that computes the prompt."""
        blocks = request.read(self._blocks)
        if blocks is None:
            return
        for target in _computing(result):
            capacity = self._capacity(target, blocks.block_tokens)
            for hashes in blocks.hashes:
                self._index.record(target.live, hashes, capacity)
        self._metrics.prefix_index_size(self.name, self.type_name, len(self._index))
        match = result.target.read(self._match)
        if match is not None:
            hit_bytes = match.matched_blocks * match.block_size_tokens * BYTES_PER_TOKEN
            self._metrics.prefix_hit(self.name, self.type_name, ratio=match.ratio, hit_bytes=hit_bytes)

    def endpoint_added(self, endpoint: LiveEndpoint) -> None:
        """A new instance holds nothing yet."""
        self._index.add(endpoint)

    def endpoint_removed(self, endpoint: LiveEndpoint) -> None:
        """Its cache is gone with it."""
        self._index.remove(endpoint)
        self._metrics.prefix_index_size(self.name, self.type_name, len(self._index))

    def debug_state(self) -> Any:
        """Blocks of each endpoint."""
        counts = sorted(self._index.sizes(), key=lambda item: item[1], reverse=True)
        shown = [{"pod": holder.metadata.id, "blocks": blocks} for holder, blocks in counts[:_SHOWN_ENDPOINTS]]
        return {"pods": shown, "totalPods": len(counts), "maxPods": _SHOWN_ENDPOINTS}

    def _block_tokens(self, endpoints: Sequence[Endpoint]) -> int:
        reported = endpoints[0].metrics.cache_block_size if self._parameters.auto_tune and endpoints else 0
        return max(reported if reported > 0 else self._parameters.block_tokens, MIN_BLOCK_TOKENS)

    def _hash(self, model: str, tokens: TokenizedPrompt, size: int) -> tuple[list[int], ...]:
        limit = self._parameters.max_prefix_tokens_to_match // size
        most = limit if limit > 0 else max(self._parameters.max_prefix_blocks_to_match, 0)
        seed = chain_seed(model, tokens.cache_salt)
        mixed = not tokens.estimated and not self._reference
        return tuple(
            block_hashes(prompt.packed, seed=seed, block_tokens=size, max_blocks=most, features=prompt.features if mixed else ())
            for prompt in tokens.prompts
        )

    def _capacity(self, target: Endpoint, block_tokens: int) -> int:
        """Blocks of ours that fit: the endpoint counts in smaller ones, unless the reference's count is asked for."""
        configured = self._parameters.lru_capacity_per_server
        metrics = target.metrics
        if not self._parameters.auto_tune or metrics.cache_blocks <= 0:
            return configured if configured > 0 else DEFAULT_CAPACITY
        if self._reference or metrics.cache_block_size <= 0:
            return metrics.cache_blocks
        return max(metrics.cache_blocks * metrics.cache_block_size // block_tokens, 1)


def _computing(result: SchedulingResult) -> list[Endpoint]:
    """First targets of the primary profile and of one named `prefill`, each once."""
    targets = [result.target]
    prefill = result.profiles.get(PREFILL_PROFILE)
    if prefill is not None and prefill.targets[0] is not targets[0]:
        targets.append(prefill.targets[0])
    return targets
