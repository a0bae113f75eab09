"""Names and labels that objects share, derived in one place because selectors and people look them up."""

from dataclasses import dataclass

from components.settings.stack import StackSettings

CUT = 40  # characters of a release or namespace that a derived name keeps
HF_TOKEN_SECRET = "llm-d-hf-token"  # noqa: S105 - the name of the Secret that the guide creates
HF_TOKEN_KEY = "HF_TOKEN"  # noqa: S105 - the key inside it
MODEL_SERVER_PORT_NAME = "modelserver"
HTTP_PORT_NAME = "http"
GUIDE_LABEL = "llm-d.ai/guide"
ROLE_LABEL = "llm-d.ai/role"

MODEL_SERVER_PORT = 8000
EXT_PROC_PORT = 9002
HEALTH_PORT = 9003
METRICS_PORT = 9090
PROXY_PORT = 8081
PROXY_READY_PORT = 19001
PROXY_ADMIN_PORT = 19000


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Names of one release of the router in one namespace. `version` is the program's own."""

    release: str
    namespace: str
    pool: bool
    version: str

    @property
    def endpoint_picker(self) -> str:
        """The engine's objects."""
        return f"{self._cut}-epp"

    @property
    def proxy(self) -> str:
        """The proxy's objects where it does not share the engine's pod."""
        return f"{self._cut}-proxy"

    @property
    def cluster_role(self) -> str:
        """Cluster-wide, hence with the namespace: two stacks may share a cluster."""
        return f"{self._cut}-{self.namespace[:CUT]}-epp"

    @property
    def common_labels(self) -> dict[str, str]:
        """On the router's objects, but not on ConfigMaps and bindings."""
        return {"app.kubernetes.io/name": self.endpoint_picker, "app.kubernetes.io/version": self.version}

    @property
    def selector(self) -> dict[str, str]:
        """The label by which Service and Deployment find router pods; its key tells whether a pool exists."""
        return {self._mode: self.endpoint_picker}

    @property
    def mode_label(self) -> dict[str, str]:
        """What the router's workload carries besides."""
        return {"llm-d.ai/igw-mode": self._mode}

    @property
    def proxy_selector(self) -> dict[str, str]:
        """The label of pods of a separate proxy."""
        return {"llm-d-router-proxy": self.proxy}

    @property
    def _cut(self) -> str:
        return self.release.lower().strip()[:CUT]

    @property
    def _mode(self) -> str:
        return "llm-d-router-gateway" if self.pool else "llm-d-router-standalone"


def names(settings: StackSettings, version: str) -> Names:
    """The names of a stack."""
    return Names(release=settings.release_name, namespace=settings.namespace.name, pool=settings.router.pool.create, version=version)


def token_secret(settings: StackSettings) -> str:
    """The Secret that model servers read their token from."""
    return settings.hugging_face.existing_secret or HF_TOKEN_SECRET
