import os
import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from router.framework.errors import ConfigError
from router.tls import (
    QUIET_SECONDS,
    VALIDITY,
    CertificateFolder,
    client_context,
    read_certificate,
    self_signed,
    server_context,
    serving_certificate,
)
from tests.support.certificates import write_certificate


def test_the_own_certificate_is_valid_for_ten_years_and_names_the_organisation() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)

    certificate = x509.load_pem_x509_certificate(self_signed(start).chain)

    assert certificate.not_valid_before_utc == start
    assert certificate.not_valid_after_utc == start + VALIDITY
    assert [a.value for a in certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)] == ["Inference Ext"]


def test_the_own_certificate_can_serve(tmp_path: Path) -> None:
    made = self_signed()
    (tmp_path / "tls.crt").write_bytes(made.chain)
    (tmp_path / "tls.key").write_bytes(made.key)

    assert read_certificate(tmp_path) == made


@pytest.mark.parametrize("missing", ["tls.crt", "tls.key"])
def test_a_directory_needs_both_files(tmp_path: Path, missing: str) -> None:
    write_certificate(tmp_path)
    (tmp_path / missing).unlink()

    with pytest.raises(ConfigError, match=r"matching tls.crt and tls.key"):
        read_certificate(tmp_path)


def test_files_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    write_certificate(tmp_path)
    (tmp_path / "tls.key").write_bytes(self_signed().key)

    with pytest.raises(ConfigError):
        read_certificate(tmp_path)


def aged(directory: Path, written: float) -> None:
    for name in ("tls.crt", "tls.key"):
        os.utime(directory / name, (written, written))


def test_a_renewed_certificate_is_taken_after_a_quiet_moment(tmp_path: Path) -> None:
    write_certificate(tmp_path)
    aged(tmp_path, 1000.0)
    now = [1010.0]
    folder = CertificateFolder(tmp_path, lambda: now[0])
    first = folder.current()
    write_certificate(tmp_path)
    aged(tmp_path, 1010.0)

    assert folder.current() == first
    now[0] += QUIET_SECONDS * 2
    assert folder.current() == read_certificate(tmp_path) != first


def test_half_a_renewal_keeps_the_old_certificate(tmp_path: Path) -> None:
    write_certificate(tmp_path)
    aged(tmp_path, 1000.0)
    folder = CertificateFolder(tmp_path, lambda: 2000.0)
    first = folder.current()
    (tmp_path / "tls.key").write_bytes(self_signed().key)
    aged(tmp_path, 1500.0)

    assert folder.current() == first
    (tmp_path / "tls.crt").unlink()
    assert folder.current() == first


def test_serving_takes_the_directory_or_makes_its_own(tmp_path: Path) -> None:
    write_certificate(tmp_path)

    made, nowhere = serving_certificate("", follow=True)
    given, fixed = serving_certificate(str(tmp_path), follow=False)
    _, newer = serving_certificate(str(tmp_path), follow=True)

    assert made != given == read_certificate(tmp_path)
    assert (nowhere, fixed) == (None, None)
    assert newer is not None
    assert newer() == given


def test_a_caller_verifies_unless_told_not_to(tmp_path: Path) -> None:
    assert client_context(verify=True).verify_mode is ssl.CERT_REQUIRED
    assert client_context(verify=False).verify_mode is ssl.CERT_NONE
    assert not client_context(verify=False).check_hostname


def test_a_caller_can_show_a_certificate(tmp_path: Path) -> None:
    write_certificate(tmp_path)

    client_context(verify=True, ca_path=str(tmp_path / "tls.crt"), cert_path=str(tmp_path / "tls.crt"), key_path=str(tmp_path / "tls.key"))


def test_a_missing_ca_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        client_context(verify=True, ca_path=str(tmp_path / "nowhere"))


def test_a_server_asks_for_certificates_of_its_ca(tmp_path: Path) -> None:
    write_certificate(tmp_path)

    assert server_context(tmp_path).verify_mode is ssl.CERT_NONE
    assert server_context(tmp_path, str(tmp_path / "tls.crt")).verify_mode is ssl.CERT_REQUIRED
    with pytest.raises(ConfigError, match="is not a CA file"):
        server_context(tmp_path, str(tmp_path / "tls.key"))
