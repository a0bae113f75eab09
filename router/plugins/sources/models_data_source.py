"""Polls the list of models of every endpoint, at the endpoint's own port."""

from dataclasses import dataclass

from router.framework.collecting import DataSource, Target
from router.framework.endpoint import LiveEndpoint
from router.framework.errors import ConfigError
from router.framework.parameters import Duration
from router.framework.plugin import Handle

TYPE = "models-data-source"
_SCHEMES = ("http", "https")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    scheme: str = "http"
    path: str = "/v1/models"
    insecure_skip_verify: bool = True
    ca_cert_path: str = ""
    client_cert_path: str = ""  # with client_key_path: the poll authenticates itself
    client_key_path: str = ""
    interval: Duration = 0.0  # seconds, rounded to whole ticks; 0: every tick

    def __post_init__(self) -> None:
        if self.scheme not in _SCHEMES:
            raise ConfigError(f"{self.scheme!r} is not allowed; allowed are {', '.join(_SCHEMES)}", field="scheme")
        if self.interval < 0:
            raise ConfigError("must not be negative", field="interval")
        if bool(self.client_cert_path) != bool(self.client_key_path):
            raise ConfigError("clientCertPath and clientKeyPath are given together or not at all", field="clientCertPath")


class ModelsDataSource(DataSource):
    """The OpenAI list of models."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self.interval_seconds = parameters.interval or None
        self._parameters = parameters

    def target(self, endpoint: LiveEndpoint) -> Target:
        """Where the list of `endpoint` is."""
        given = self._parameters
        return Target(
            url=f"{given.scheme}://{endpoint.metadata.host_port}/{given.path.removeprefix('/')}",
            verify_tls=not given.insecure_skip_verify,
            ca_path=given.ca_cert_path,
            client_cert_path=given.client_cert_path,
            client_key_path=given.client_key_path,
        )
