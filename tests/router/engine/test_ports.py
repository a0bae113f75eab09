import socket

import pytest

from router.engine.ports import require_free
from router.framework.errors import ConfigError


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_a_taken_port_is_told_with_its_use(address: str) -> None:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as holder:
        holder.bind((address, 0))
        holder.listen()
        port = holder.getsockname()[1]

        with pytest.raises(ConfigError, match=rf"metrics port.*cannot listen on {address}:{port}: Address already in use"):
            require_free(address, port, "metrics port")
    require_free(address, port, "metrics port")


def test_any_free_port_passes() -> None:
    require_free("127.0.0.1", 0, "ext_proc port")
    require_free("", 0, "ext_proc port")
