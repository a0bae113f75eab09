"""Ports are looked at before anything starts, so that a taken one is told in one line."""

import socket

from router.framework.errors import ConfigError


def require_free(address: str, port: int, what: str) -> None:
    """Raises ConfigError when nothing can listen there; `what` names the port's use. Port 0, any free one, always passes."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise ConfigError(f"cannot listen on {address or '*'}:{port}: {error.strerror}", source=what) from None
