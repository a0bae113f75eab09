"""How to reach the API server: from inside a cluster, or by a kubeconfig."""

import base64
import ssl
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

from router.framework.endpoint import join_host_port
from router.framework.errors import ConfigError

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")

TokenSource = Callable[[], str]  # asked for every request: mounted tokens are replaced while the process runs


def no_token() -> str:
    """For servers that know a client by its certificate, or not at all."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """An API server and who we are to it."""

    server: str  # URL without a trailing slash
    tls: ssl.SSLContext | None = None  # None: plain HTTP
    token: TokenSource = field(default=no_token)


def find_access(environ: Mapping[str, str], home: Path, service_account: Path = SERVICE_ACCOUNT) -> Access:
    """By $KUBECONFIG, else as a pod, else by ~/.kube/config. Raises ConfigError when there is none of them or it cannot be used."""
    if environ.get("KUBECONFIG"):
        return from_kubeconfig(Path(environ["KUBECONFIG"].split(":")[0]))
    if environ.get("KUBERNETES_SERVICE_HOST"):
        return from_pod(environ, service_account)
    default = home / ".kube" / "config"
    if default.exists():
        return from_kubeconfig(default)
    raise ConfigError("no Kubernetes API server is known: neither $KUBECONFIG, nor a pod's service account, nor ~/.kube/config")


def from_pod(environ: Mapping[str, str], service_account: Path) -> Access:
    """What every pod is given."""
    host, port = environ["KUBERNETES_SERVICE_HOST"], int(environ.get("KUBERNETES_SERVICE_PORT", "443"))
    token = service_account / "token"
    _read(token)
    return Access(
        server=f"https://{join_host_port(host, port)}",
        tls=_context(str(service_account / "ca.crt"), None, source=str(service_account)),
        token=lambda: _read(token).strip(),
    )


def from_kubeconfig(path: Path) -> Access:
    """The current context of a kubeconfig. Raises ConfigError."""
    try:
        document = yaml.safe_load(_read(path))
        context = _named(document, "contexts", "context", document["current-context"])
        cluster = _named(document, "clusters", "cluster", context["cluster"])
        user = _named(document, "users", "user", context["user"]) if context.get("user") else {}
        server = str(cluster["server"]).rstrip("/")
    except (KeyError, TypeError, yaml.YAMLError) as error:
        raise ConfigError(f"is not a kubeconfig: {error!r}", source=str(path)) from None
    for kind in ("exec", "auth-provider"):
        if user.get(kind):
            raise ConfigError(f"users with {kind} are not supported yet; use a token or a client certificate", source=str(path))
    return Access(server=server, tls=_tls(path, cluster, user) if server.startswith("https:") else None, token=_token(path, user))


def _token(path: Path, user: Mapping[str, Any]) -> TokenSource:
    if user.get("tokenFile"):
        file = path.parent / str(user["tokenFile"])
        return lambda: _read(file).strip()
    token = str(user.get("token") or "")
    return lambda: token


def _tls(path: Path, cluster: Mapping[str, Any], user: Mapping[str, Any]) -> ssl.SSLContext:
    with tempfile.TemporaryDirectory() as folder:  # the library reads certificates from files only

        def file(settings: Mapping[str, Any], name: str) -> str | None:
            if settings.get(f"{name}-data"):
                target = Path(folder) / name
                target.write_bytes(base64.b64decode(settings[f"{name}-data"]))
                return str(target)
            return str(path.parent / str(settings[name])) if settings.get(name) else None

        certificate, key = file(user, "client-certificate"), file(user, "client-key")
        context = _context(file(cluster, "certificate-authority"), (certificate, key) if certificate and key else None, source=str(path))
    if cluster.get("insecure-skip-tls-verify"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _context(ca: str | None, pair: tuple[str, str] | None, *, source: str) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=ca)
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # many clusters' own CAs lack extensions that Python 3.13 asks for
        if pair:
            context.load_cert_chain(*pair)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"certificates cannot be used: {error}", source=source) from None
    return context


def _named(document: Any, section: str, kind: str, name: str) -> Mapping[str, Any]:
    for item in document[section]:
        if item["name"] == name:
            return cast("Mapping[str, Any]", item[kind])
    raise KeyError(f"{section}: {name}")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read: {error}", source=str(path)) from None
