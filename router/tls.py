"""Certificates: the engine's own for serving, and contexts for calling."""

import contextlib
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from router.framework.errors import ConfigError

ORGANISATION = "Inference Ext"
VALIDITY = timedelta(days=3650)
QUIET_SECONDS = 0.25
CERTIFICATE_FILE, KEY_FILE = "tls.crt", "tls.key"


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate chain with its key, both PEM."""

    chain: bytes
    key: bytes


def self_signed(now: datetime | None = None) -> Certificate:
    """A certificate that no client verifies: ten years, an organisation and no host name.

    The reference uses RSA 4096, whose generation takes seconds; an elliptic key is made in a millisecond.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    start = now or datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, ORGANISATION)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + VALIDITY)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return Certificate(certificate.public_bytes(pem), secret)


def read_certificate(directory: Path) -> Certificate:
    """`tls.crt` and `tls.key` of a directory. Raises ConfigError when they are missing or do not fit together."""
    try:
        found = Certificate((directory / CERTIFICATE_FILE).read_bytes(), (directory / KEY_FILE).read_bytes())
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(directory / CERTIFICATE_FILE, directory / KEY_FILE)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"needs a matching {CERTIFICATE_FILE} and {KEY_FILE}: {error}", source=str(directory)) from None
    return found


class CertificateFolder:
    """The certificate of a directory as it is now. A pair that does not fit together, as in the middle of a change, is not taken."""

    def __init__(self, directory: Path, now: Callable[[], float] = time.time) -> None:
        """Raises ConfigError when there is no usable pair. `now`: the clock of file times."""
        self._directory = directory
        self._now = now
        self._taken = self._written()
        self._certificate = read_certificate(directory)

    def current(self) -> Certificate:
        """The newest usable pair; files younger than `QUIET_SECONDS` are left alone."""
        written = self._written()
        if written != self._taken and max(written) < self._now() - QUIET_SECONDS:
            with contextlib.suppress(ConfigError):
                self._certificate = read_certificate(self._directory)
                self._taken = written
        return self._certificate

    def _written(self) -> tuple[float, ...]:
        try:
            return tuple((self._directory / name).stat().st_mtime for name in (CERTIFICATE_FILE, KEY_FILE))
        except OSError:
            return (0.0,)


def serving_certificate(directory: str, *, follow: bool) -> tuple[Certificate, Callable[[], Certificate] | None]:
    """The certificate to start serving with, and where a newer one comes from if changes are to be followed.

    Without a directory it is a self-signed one, which does not change. Raises ConfigError.
    """
    if not directory:
        return self_signed(), None
    folder = CertificateFolder(Path(directory))
    return folder.current(), folder.current if follow else None


def client_context(*, verify: bool, ca_path: str = "", cert_path: str = "", key_path: str = "") -> ssl.SSLContext:
    """A context for calling. Raises ConfigError for a file that cannot be used."""
    try:
        context = ssl.create_default_context(cafile=ca_path or None)
        if not verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if cert_path:
            context.load_cert_chain(cert_path, key_path)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"cannot be used for TLS: {error}", source=ca_path or cert_path) from None
    return context


def server_context(directory: Path, client_ca_path: str = "") -> ssl.SSLContext:
    """A context for serving HTTPS; with a CA, clients must show a certificate of it. Raises ConfigError."""
    read_certificate(directory)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / CERTIFICATE_FILE, directory / KEY_FILE)
    if client_ca_path:
        try:
            context.load_verify_locations(client_ca_path)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(f"is not a CA file: {error}", source=client_ca_path) from None
        context.verify_mode = ssl.CERT_REQUIRED
    return context
