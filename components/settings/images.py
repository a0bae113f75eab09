"""References of container images, pinned by digest or version."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator

REFERENCE = re.compile(r"^[a-z0-9][\w.\-/:]*?(?::(?P<tag>[\w][\w.\-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?$")
MOVING = frozenset({"main", "master", "nightly", "dev", "edge", "stable"})  # tags that name another image tomorrow

PullPolicy = Literal["Always", "IfNotPresent", "Never"]


def _pinned(value: str) -> str:
    found = REFERENCE.match(value)
    if found is None:
        raise ValueError("must be an image reference: repository:version or repository@sha256:<64 hex digits>")
    if found["digest"] is None and found["tag"] in (None, "latest"):
        raise ValueError("must name a version or a digest (repository:version or repository@sha256:<64 hex digits>), not the latest image")
    return value


Image = Annotated[str, AfterValidator(_pinned)]


def pull_policy(image: str) -> PullPolicy:
    """Moving tags are pulled each time, everything else once."""
    found = REFERENCE.match(image)
    moving = found is not None and found["digest"] is None and found["tag"] in MOVING
    return "Always" if moving else "IfNotPresent"
