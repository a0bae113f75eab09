import base64
import ssl
from pathlib import Path
from typing import Any

import pytest
import yaml

from router.framework.errors import ConfigError
from router.kube.access import find_access, from_kubeconfig
from tests.support.certificates import write_certificate


def kubeconfig(path: Path, *, cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None) -> Path:
    document = {
        "current-context": "c",
        "contexts": [{"name": "other", "context": {}}, {"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": "http://127.0.0.1:8001/", **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {}}],
    }
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path


def test_a_kubeconfig_names_the_server_of_its_current_context(tmp_path: Path) -> None:
    access = from_kubeconfig(kubeconfig(tmp_path / "config", user={"token": "t"}))

    assert (access.server, access.tls, access.token()) == ("http://127.0.0.1:8001", None, "t")


def test_a_token_file_is_read_anew_each_time(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("one\n", encoding="utf-8")
    access = from_kubeconfig(kubeconfig(tmp_path / "config", user={"tokenFile": "token"}))

    assert access.token() == "one"
    (tmp_path / "token").write_text("two", encoding="utf-8")
    assert access.token() == "two"


@pytest.mark.parametrize("inline", [True, False], ids=["inline", "files"])
def test_certificates_come_inline_or_from_files(tmp_path: Path, inline: bool) -> None:
    write_certificate(tmp_path)
    files = {"certificate-authority": "tls.crt", "client-certificate": "tls.crt", "client-key": "tls.key"}
    given = {
        f"{name}-data" if inline else name: base64.b64encode((tmp_path / file).read_bytes()).decode() if inline else file
        for name, file in files.items()
    }
    cluster = {"server": "https://127.0.0.1:6443", **{k: v for k, v in given.items() if k.startswith("certificate")}}
    user = {k: v for k, v in given.items() if k.startswith("client")}

    access = from_kubeconfig(kubeconfig(tmp_path / "config", cluster=cluster, user=user))

    assert access.tls is not None
    assert access.tls.verify_mode is ssl.CERT_REQUIRED


def test_verification_can_be_switched_off(tmp_path: Path) -> None:
    cluster = {"server": "https://127.0.0.1:6443", "insecure-skip-tls-verify": True}

    access = from_kubeconfig(kubeconfig(tmp_path / "config", cluster=cluster))

    assert access.tls is not None
    assert access.tls.verify_mode is ssl.CERT_NONE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("current-context: x\ncontexts: []\n", "contexts: x", id="no-such-context"),
        pytest.param("just a text", "is not a kubeconfig", id="text"),
        pytest.param("{", "is not a kubeconfig", id="no-yaml"),
    ],
)
def test_what_is_no_kubeconfig_is_refused_with_its_path(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "config"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError, match=expected) as refused:
        from_kubeconfig(path)
    assert str(path) in str(refused.value)


def test_users_that_run_a_program_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="exec are not supported yet"):
        from_kubeconfig(kubeconfig(tmp_path / "config", user={"exec": {"command": "x"}}))


def test_a_pod_uses_its_service_account(tmp_path: Path) -> None:
    write_certificate(tmp_path)
    (tmp_path / "tls.crt").rename(tmp_path / "ca.crt")
    (tmp_path / "token").write_text("t\n", encoding="utf-8")
    environ = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"}

    access = find_access(environ, tmp_path, tmp_path)

    assert (access.server, access.token()) == ("https://[fd00::1]:6443", "t")


def test_an_explicit_kubeconfig_comes_first_and_the_one_at_home_last(tmp_path: Path) -> None:
    chosen = kubeconfig(tmp_path / "chosen", user={"token": "chosen"})
    (tmp_path / ".kube").mkdir()
    kubeconfig(tmp_path / ".kube" / "config", user={"token": "home"})

    assert find_access({"KUBECONFIG": str(chosen), "KUBERNETES_SERVICE_HOST": "x"}, tmp_path).token() == "chosen"
    assert find_access({}, tmp_path).token() == "home"


def test_without_any_the_three_places_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"KUBECONFIG.*service account.*\.kube/config"):
        find_access({}, tmp_path)
