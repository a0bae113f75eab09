import os
import socket
import subprocess
import sys

import pytest

from local.errors import LocalError
from local.ports import claimed, listening, require_free

ADDRESS = "127.70.200.1"


def test_free_ports_pass() -> None:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port = probe.getsockname()[1]

    require_free([(ADDRESS, port)])


@pytest.mark.parametrize("host", [ADDRESS, "0.0.0.0"], ids=["same-address", "all-interfaces"])
def test_a_taken_port_is_named_with_who_holds_it(host: str) -> None:
    with socket.create_server((host, 0)) as holder:
        port = holder.getsockname()[1]

        with pytest.raises(LocalError, match=rf"{ADDRESS}:{port} is in use by process {os.getpid()} \(.*python.*--instance NAME"):
            require_free([(ADDRESS, port)])


def test_a_holder_with_a_command_of_many_lines_is_still_one_line() -> None:
    program = f"import socket\nwith socket.create_server(({ADDRESS!r}, 0)) as s:\n  print(s.getsockname()[1], flush=True)\n  input()\n"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        port = int(holder.stdout.readline())

        with pytest.raises(LocalError, match=rf"by process {holder.pid} \(.*import socket with") as caught:
            require_free([(ADDRESS, port)])

        holder.communicate("\n")
    assert "\n" not in str(caught.value)


def test_who_has_the_same_port_elsewhere_is_not_blamed() -> None:
    with socket.create_server(("127.70.200.5", 0)) as holder, socket.socket() as bound:
        port = holder.getsockname()[1]
        bound.bind(("127.70.200.6", port))  # bound, but not listening: nobody can be named

        with pytest.raises(LocalError, match=rf"127\.70\.200\.6:{port} is in use \(Address"):
            require_free([("127.70.200.6", port)])


def test_an_address_belongs_to_one_run_at_a_time() -> None:
    with claimed("127.70.200.3"), claimed("127.70.200.4"), pytest.raises(LocalError, match="another run"), claimed("127.70.200.3"):
        pass

    with claimed("127.70.200.3"):
        pass


def test_listening_ports_of_an_address_are_seen() -> None:
    with socket.create_server((ADDRESS, 0)) as holder:
        assert holder.getsockname()[1] in listening(ADDRESS)

    with socket.socket(socket.AF_INET6) as holder:
        holder.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        holder.bind((f"::ffff:{ADDRESS}", 0))
        holder.listen()
        assert holder.getsockname()[1] in listening(ADDRESS)

    assert listening("127.70.200.2") == []
