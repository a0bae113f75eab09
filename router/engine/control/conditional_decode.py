"""`Prefer: if-available`: serve a request only where its prompt is already cached."""

from collections.abc import Sequence

from router.framework.attributes.key import DataKey
from router.framework.attributes.prefix_match import PrefixMatch
from router.framework.errors import ErrorCode, RequestError
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult

PREFER = "prefer"
IF_AVAILABLE = "if-available"


def require_cached_prefix(request: InferenceRequest, result: SchedulingResult, keys: Sequence[DataKey[PrefixMatch]]) -> None:
    """Raises RequestError(PreconditionFailed) when the client wants a cached prefix and the target is not known to hold any."""
    prefer = request.headers.get(PREFER)
    if prefer is None or not _wants_cache(prefer):
        return
    matches = (result.target.read(key) for key in keys)
    if not any(match is not None and match.matched_blocks > 0 for match in matches):
        raise RequestError(ErrorCode.PreconditionFailed, "no decode worker has the requested KV cache")


def _wants_cache(prefer: str) -> bool:
    tokens = (preference.partition(";")[0].strip().lower() for preference in prefer.split(","))
    return IF_AVAILABLE in tokens
