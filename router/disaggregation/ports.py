"""Data-parallel ranks behind one port: the sidecar there forwards to the rank that was chosen."""

from router.framework.errors import ConfigError
from router.framework.request import InferenceRequest
from router.framework.scheduling import ProfileResult
from router.wire import DATA_PARALLEL


def check_port(port: int, *, lowest: int = 1) -> None:
    """Raises ConfigError for a number that is no port."""
    if not lowest <= port <= 65535:
        raise ConfigError(f"{port} is not a port ({lowest} to 65535)", field="primaryPort")


def through_primary_port(request: InferenceRequest, chosen: ProfileResult, port: int) -> ProfileResult:
    """The same targets at `port`; a header names the address that was chosen."""
    request.headers[DATA_PARALLEL] = chosen.targets[0].metadata.host_port
    targets = tuple(target.at_port(port) for target in chosen.targets)
    moved = dict(zip(chosen.targets, targets, strict=True))
    return ProfileResult(targets=targets, scores={moved.get(endpoint, endpoint): score for endpoint, score in chosen.scores.items()})
