"""Serves a request in two stages, prefill and decode. Older form of the disaggregation handler."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from router.disaggregation.headers import announce_stages
from router.disaggregation.ports import check_port, through_primary_port
from router.disaggregation.stages import DECODE, PREFILL, Results, StagePlan
from router.framework.attributes.key import DataKey
from router.framework.attributes.peer_endpoint import peer_endpoint
from router.framework.attributes.prefix_match import PRODUCER, prefix_match
from router.framework.attributes.tokenized_prompt import tokenized_prompt
from router.framework.control import PreRequest
from router.framework.errors import ConfigError
from router.framework.parameters import plugin_reference
from router.framework.plugin import Consumes, Handle
from router.framework.request import InferenceRequest
from router.framework.scheduling import Decider, ProfileHandler, SchedulingResult

TYPE = "pd-profile-handler"
_NO_PROFILE = ""  # there is no encode stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    decode_profile: str = DECODE
    prefill_profile: str = PREFILL
    decider_plugin_name: str = plugin_reference("prefix-based-pd-decider")
    primary_port: int = 0  # of the decode pod, with data-parallel ranks; 0: the target's own port
    prefix_plugin_name: Any = None  # deprecated, without effect
    prefix_plugin_type: Any = None  # deprecated, without effect
    prefix_match_info_producer_name: str = PRODUCER

    def __post_init__(self) -> None:
        check_port(self.primary_port, lowest=0)
        if self.decode_profile == self.prefill_profile:
            raise ConfigError(f"{self.prefill_profile} is the decode profile", field="prefillProfile")


class PdProfileHandler(ProfileHandler, PreRequest):
    """Decode is primary and must succeed; prefill runs when the decider agrees."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        decider = handle.plugin(parameters.decider_plugin_name)
        if not isinstance(decider, Decider):
            raise ConfigError(f'"{parameters.decider_plugin_name}" is not a configured decider', field="deciderPluginName")
        self._plan = StagePlan(
            decode=parameters.decode_profile, prefill=parameters.prefill_profile, encode=_NO_PROFILE, prefill_decider=decider
        )
        self._metrics = handle.metrics
        self._port = parameters.primary_port
        self._match = prefix_match(parameters.prefix_match_info_producer_name)

    def consumes(self) -> Consumes:
        """What deciders look at, so that its producers exist."""
        return Consumes(required=frozenset({tokenized_prompt(), self._match}))

    def produces(self) -> frozenset[DataKey[Any]]:
        """The decode endpoint, for the prefill stage."""
        return frozenset({peer_endpoint()})

    def pick_profiles(self, request: InferenceRequest, profiles: Sequence[str], results: Results) -> Sequence[str]:
        """The next stage."""
        return self._plan.next(request, profiles, results)

    def process_results(self, request: InferenceRequest, results: Results) -> SchedulingResult:
        """The stages that found an endpoint; RequestError without a decode endpoint."""
        result = self._plan.settle(results)
        self._metrics.pd_decision(self.name, self.type_name, request.target_model, self._plan.decision(result))
        if not self._port:
            return result
        moved = through_primary_port(request, result.profiles[result.primary], self._port)
        return replace(result, profiles={**result.profiles, result.primary: moved})

    async def before_request(self, request: InferenceRequest, result: SchedulingResult) -> None:
        """Set the routing header."""
        announce_stages(request, result, prefill=self._plan.prefill, encode=self._plan.encode)
