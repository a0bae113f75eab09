"""Whether the addresses a stack needs are free, and who has them if not."""

import contextlib
import socket
from collections.abc import Generator, Iterable
from pathlib import Path

from local.errors import LocalError

TCP_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
LISTEN = "0A"
IPV4_IN_IPV6 = "0000000000000000FFFF0000"  # how the kernel shows a socket that serves an IPv4 address as IPv6


def require_free(wanted: Iterable[tuple[str, int]]) -> None:
    """Raise LocalError naming the first address and port that cannot be bound, and the process that holds it where it can be seen."""
    for address, port in wanted:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port in TIME_WAIT is free
            try:
                probe.bind((address, port))
            except OSError as error:
                holder = _holder(address, port)
                by = f" by {holder}" if holder else ""
                hint = "; is the stack already running (--instance NAME runs beside it), or something on all interfaces of this port?"
                raise LocalError(f"{address}:{port} is in use{by} ({error.strerror}){hint}") from error


@contextlib.contextmanager
def claimed(address: str) -> Generator[None]:
    """Keep `address` from other runs while its programs are still starting; raises LocalError where another run has it.

    The claim is a socket in the kernel's own name space, which goes with this process however it ends.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as claim:
        try:
            claim.bind(f"\0mmserve/{address}")
        except OSError as error:
            raise LocalError(f"another run of this stack is starting or stopping on {address}; --instance NAME runs beside it") from error
        yield


def listening(address: str) -> list[int]:
    """The TCP ports on which something listens at exactly this IPv4 address."""
    wanted = _forms(address)
    return sorted({port for local, port, _ in _listeners() if local in wanted})


def _holder(address: str, port: int) -> str:
    """Who listens on `port` at this address or at all, as `process 12 (envoy -c …)`; empty where that cannot be seen."""
    places = (*_forms(address), "0" * 8, "0" * 32)
    inodes = {inode for local, number, inode in _listeners() if number == port and local in places}
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and _open_sockets(process) & inodes:
            command = ""
            with contextlib.suppress(OSError):
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            return f"process {process.name} ({' '.join(command.split())[:80]})"
    return ""


def _open_sockets(process: Path) -> set[str]:
    found: set[str] = set()
    with contextlib.suppress(OSError):
        for descriptor in (process / "fd").iterdir():
            with contextlib.suppress(OSError):
                target = str(descriptor.readlink())
                if target.startswith("socket:["):
                    found.add(target[8:-1])
    return found


def _listeners() -> Iterable[tuple[str, int, str]]:
    """Local address (hexadecimal), port and inode of each listening socket."""
    for table in TCP_TABLES:
        with contextlib.suppress(OSError):
            for line in Path(table).read_text().splitlines()[1:]:
                words = line.split()
                if words[3] == LISTEN:
                    address, _, port = words[1].rpartition(":")
                    yield address, int(port, 16), words[9]


def _forms(address: str) -> tuple[str, str]:
    """An IPv4 address as the kernel writes it, in the table for each family."""
    text = socket.inet_aton(address)[::-1].hex().upper()
    return text, IPV4_IN_IPV6 + text
