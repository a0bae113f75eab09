"""Guesses which endpoint still holds the encoder's output for which picture, video or sound, from where they were sent before.

Encoder caches live where encoding happens: the endpoint of the encode stage when there was one, else the primary endpoint.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from router.framework.attributes.encoder_match import EncoderMatch, encoder_match
from router.framework.attributes.key import DataKey
from router.framework.attributes.tokenized_prompt import TokenizedPrompt, tokenized_prompt
from router.framework.control import DataProducer, EndpointListener, PreRequest
from router.framework.endpoint import Endpoint, LiveEndpoint
from router.framework.parameters import spelled
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult

TYPE = "mm-embeddings-cache-producer"
ENCODE_PROFILE = "encode"
DEFAULT_CACHE_MIB = 4096
MIB_PER_ITEM = 2  # assumed for every item
_SHOWN_ENDPOINTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    cache_size_in_mb_per_server: int = spelled("cacheSizeInMBPerServer", DEFAULT_CACHE_MIB)  # MiB; zero or less: the default

    @property
    def capacity(self) -> int:
        """Items that an endpoint is thought to keep."""
        size = self.cache_size_in_mb_per_server
        return max((size if size > 0 else DEFAULT_CACHE_MIB) // MIB_PER_ITEM, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaItems:
    """Distinct media of a request: modality by hash."""

    modalities: Mapping[str, str]


class MmEmbeddingsCacheProducer(DataProducer, PreRequest, EndpointListener):
    """Writes `EncoderMatch` on every candidate of a request with media; records the media where they are encoded."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._capacity = parameters.capacity
        self._metrics = handle.metrics
        self._reference = handle.compat.reference
        self._tokens = tokenized_prompt()
        self._match = encoder_match(name)
        self._items = DataKey("MediaItems", name, MediaItems)
        self._held: dict[LiveEndpoint, OrderedDict[str, None]] = {}

    def consumes(self) -> Consumes:
        """The tokens, whose features name the media."""
        return Consumes(required=frozenset({self._tokens}))

    def produces(self) -> frozenset[DataKey[Any]]:
        """The match of each endpoint."""
        return frozenset({self._match, self._items})

    async def produce(self, request: InferenceRequest, endpoints: Sequence[Endpoint]) -> None:
        """Count the request's media at every candidate. A look-up does not make an item more recent."""
        tokens = request.read(self._tokens)
        modalities = _distinct(tokens) if tokens else {}
        if not modalities:
            return
        request.write(self._items, MediaItems(modalities=modalities))
        for modality in modalities.values():
            self._metrics.encoder_cache_queried(self.name, self.type_name, modality)
        matches = [EncoderMatch(matched_size=count, request_size=len(modalities)) for count in range(len(modalities) + 1)]
        candidates = [0] * len(matches)  # by what they match
        for endpoint in endpoints:
            held = self._held.get(endpoint.live)
            count = self._count(endpoint, held, modalities) if held else 0
            endpoint.write(self._match, matches[count])
            candidates[count] += 1
        for match, number in zip(matches, candidates, strict=True):
            if number:
                self._metrics.encoder_cache_ratio(self.name, self.type_name, match.ratio, number)

    async def before_request(self, request: InferenceRequest, result: SchedulingResult) -> None:
        """Record the media at the endpoint that encodes them; the reference records them at the primary one."""
        items = request.read(self._items)
        encoding = None if self._reference else result.profiles.get(ENCODE_PROFILE)
        target = encoding.targets[0] if encoding else result.target
        held = self._held.get(target.live)
        if items is None or held is None:
            return
        for item in items.modalities:
            held[item] = None
            held.move_to_end(item)
        while len(held) > self._capacity:
            held.popitem(last=False)

    def endpoint_added(self, endpoint: LiveEndpoint) -> None:
        """A new instance has encoded nothing."""
        self._held[endpoint] = OrderedDict()

    def endpoint_removed(self, endpoint: LiveEndpoint) -> None:
        """Its cache is gone with it."""
        self._held.pop(endpoint, None)
        pod = endpoint.metadata.name
        if all(other.metadata.name != pod for other in self._held):  # a pod has an endpoint for each of its ports
            self._metrics.encoder_cache_forgotten(self.name, self.type_name, pod)

    def debug_state(self) -> Any:
        """Items of each endpoint."""
        counts = sorted(((live.metadata.id, len(held)) for live, held in self._held.items()), key=lambda item: item[1], reverse=True)
        shown = [{"pod": name, "items": items} for name, items in counts[:_SHOWN_ENDPOINTS]]
        return {
            "podList": [pod["pod"] for pod in shown],
            "totalKnownPods": len(counts),
            "pods": shown,
            "totalPods": len(counts),
            "maxPods": _SHOWN_ENDPOINTS,
        }

    def _count(self, endpoint: Endpoint, held: Mapping[str, None], modalities: Mapping[str, str]) -> int:
        found = [modality for item, modality in modalities.items() if item in held]
        for modality in found:
            self._metrics.encoder_cache_hit(self.name, self.type_name, endpoint.metadata.name, modality)
        return len(found)


def _distinct(tokens: TokenizedPrompt) -> dict[str, str]:
    return {feature.hash: feature.modality for prompt in tokens.prompts for feature in prompt.features if feature.hash}
