"""Headers that tell the routing sidecar of the decode endpoint where the other stages run."""

from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult
from router.wire import ENCODERS, PREFILLER


def announce_stages(request: InferenceRequest, result: SchedulingResult, *, prefill: str, encode: str) -> None:
    """Set the routing headers from the profiles named `prefill` and `encode`; one that did not run has none."""
    request.headers.pop(PREFILLER, None)
    request.headers.pop(ENCODERS, None)
    if prefilling := result.profiles.get(prefill):
        request.headers[PREFILLER] = prefilling.targets[0].metadata.host_port
    if encoding := result.profiles.get(encode):
        request.headers[ENCODERS] = ",".join(target.metadata.host_port for target in encoding.targets)
