"""Serves a request in up to three stages: encode media, prefill, decode.

The decode endpoint gets the request; headers tell its routing sidecar which endpoints do the other stages.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from logging import getLogger
from typing import Any

from router.disaggregation.headers import announce_stages
from router.disaggregation.stages import DECODE, ENCODE, PREFILL, Results, StagePlan
from router.framework.attributes.key import DataKey
from router.framework.attributes.peer_endpoint import peer_endpoint
from router.framework.attributes.prefix_match import prefix_match
from router.framework.attributes.tokenized_prompt import tokenized_prompt
from router.framework.control import PreRequest
from router.framework.errors import ConfigError
from router.framework.parameters import plugin_reference
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Decider, ProfileHandler, SchedulingResult

TYPE = "disagg-profile-handler"
_ORDERS = {"decodefirst": False, "decode": False, "prefillfirst": True, "prefill": True}

log = getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiles:
    """Names of the profiles of each stage."""

    decode: str = DECODE
    prefill: str = PREFILL
    encode: str = ENCODE


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciders:
    """Plugins that say whether a stage runs."""

    prefill: str = plugin_reference()
    encode: str = plugin_reference()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin: `profiles` and `deciders`, or their older flat form, never both."""

    stage_order: str = "decode-first"  # or "prefill-first"; case, "-" and "_" do not count
    profiles: Profiles = field(default_factory=Profiles)
    deciders: Deciders = field(default_factory=Deciders)
    decode_profile: str | None = None
    prefill_profile: str | None = None
    encode_profile: str | None = None
    prefill_decider_plugin_name: str = plugin_reference()
    encode_decider_plugin_name: str = plugin_reference()
    decider_plugin_name: str = plugin_reference()  # the oldest name of the prefill decider

    def __post_init__(self) -> None:
        flat = [name for name in (*_FLAT_PROFILES, *_FLAT_DECIDERS) if getattr(self, name)]
        if flat and (self.profiles != Profiles() or self.deciders != Deciders()):
            raise ConfigError(f"profiles and deciders cannot be mixed with the flat form ({', '.join(flat)})")
        if self.stage_order and _normal(self.stage_order) not in _ORDERS:
            raise ConfigError(f"{self.stage_order!r} is not one of decode-first, prefill-first", field="stageOrder")
        if self.prefill_first and self.prefill_decider:
            raise ConfigError("with prefill-first the prefill stage always runs; remove its decider", field="deciders.prefill")
        if len({self.decode, self.prefill, self.encode}) < 3:
            raise ConfigError(f"{self.decode}, {self.prefill} and {self.encode} are not three different profiles", field="profiles")

    @property
    def prefill_first(self) -> bool:
        """The order of stages."""
        return _ORDERS.get(_normal(self.stage_order), False)

    @property
    def decode(self) -> str:
        """The decode profile in either form."""
        return self.decode_profile or self.profiles.decode

    @property
    def prefill(self) -> str:
        """The prefill profile in either form."""
        return self.prefill_profile or self.profiles.prefill

    @property
    def encode(self) -> str:
        """The encode profile in either form."""
        return self.encode_profile or self.profiles.encode

    @property
    def prefill_decider(self) -> str:
        """The prefill decider in any form."""
        return self.deciders.prefill or self.prefill_decider_plugin_name or self.decider_plugin_name

    @property
    def encode_decider(self) -> str:
        """The encode decider in either form."""
        return self.deciders.encode or self.encode_decider_plugin_name


_FLAT_PROFILES = ("decode_profile", "prefill_profile", "encode_profile")
_FLAT_DECIDERS = ("prefill_decider_plugin_name", "encode_decider_plugin_name", "decider_plugin_name")


class DisaggProfileHandler(ProfileHandler, PreRequest):
    """Decode is primary and must succeed; a stage that finds no endpoint is left out."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._metrics = handle.metrics
        self._plan = StagePlan(
            decode=parameters.decode,
            prefill=parameters.prefill,
            encode=parameters.encode,
            prefill_decider=_decider(handle, parameters.prefill_decider, "deciders.prefill"),
            encode_decider=_decider(handle, parameters.encode_decider, "deciders.encode"),
            prefill_first=parameters.prefill_first,
        )
        self._failing: set[str] = set()

    def consumes(self) -> Consumes:
        """What deciders look at, so that its producers exist."""
        return Consumes(required=frozenset({tokenized_prompt(), prefix_match()}))

    def produces(self) -> frozenset[DataKey[Any]]:
        """The decode endpoint, for the stages after it."""
        return frozenset({peer_endpoint()})

    def pick_profiles(self, request: InferenceRequest, profiles: Sequence[str], results: Results) -> Sequence[str]:
        """The next stage."""
        return self._plan.next(request, profiles, results)

    def process_results(self, request: InferenceRequest, results: Results) -> SchedulingResult:
        """The stages that found an endpoint; RequestError without a decode endpoint."""
        result = self._plan.settle(results)
        self._metrics.disagg_decision(self.name, self.type_name, request.target_model, self._plan.decision(result))
        self._note_failures(results)
        return result

    async def before_request(self, request: InferenceRequest, result: SchedulingResult) -> None:
        """Set the routing headers."""
        announce_stages(request, result, prefill=self._plan.prefill, encode=self._plan.encode)

    def _note_failures(self, results: Results) -> None:
        """One line when a stage begins to find no endpoint, and one when it finds some again."""
        failed = set(self._plan.failed(results))
        for stage in failed - self._failing:
            log.warning("a stage finds no endpoint; requests are served without it", extra={"fields": {"profile": stage}})
        recovered = {stage for stage in self._failing if results.get(stage) is not None}
        for stage in recovered:
            log.info("a stage finds endpoints again", extra={"fields": {"profile": stage}})
        self._failing = (self._failing | failed) - recovered


def _decider(handle: Handle, name: str, place: str) -> Decider | None:
    if not name:
        return None
    plugin = handle.plugin(name)
    if not isinstance(plugin, Decider):
        raise ConfigError(f'"{name}" is {"not configured" if plugin is None else f"a {plugin.type_name}, not a decider"}', field=place)
    return plugin


def _normal(order: str) -> str:
    return order.lower().replace("-", "").replace("_", "")
