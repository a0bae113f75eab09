"""Endpoints from a file instead of the Kubernetes API.

Naming this plugin in `dataLayer.discovery` switches Kubernetes off entirely. The reading is done by `router.engine.discovery`.
"""

from dataclasses import dataclass

from router.framework.errors import ConfigError
from router.framework.plugin import Handle, Plugin

TYPE = "file-discovery"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    path: str
    watch_file: bool = False

    def __post_init__(self) -> None:
        if not self.path:
            raise ConfigError("must not be empty; give the path of the endpoints file", field="path")


class FileDiscovery(Plugin):
    """Names the file, and says whether it is watched."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self.path = parameters.path
        self.watch_file = parameters.watch_file
