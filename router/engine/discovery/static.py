"""Endpoints from a file, followed as it changes."""

import asyncio
import dataclasses
import ipaddress
import json
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from router.engine.datalayer.endpoints import Endpoints
from router.framework.endpoint import EndpointMetadata
from router.framework.errors import ConfigError
from router.framework.parameters import decode

MAX_FILE_BYTES = 1024 * 1024
LOOK_SECONDS = 0.2  # how often the file's identity is compared; the standard library has no notification

Sleep = Callable[[float], Awaitable[None]]
_Identity = tuple[int, int, int, int]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One endpoint of the file."""

    name: str
    namespace: str = "default"
    address: str
    port: Any = "8000"  # a text as the reference writes it; a number is understood too
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        if not self.name:
            raise ConfigError("must not be empty", field="name")
        try:
            ipaddress.ip_address(self.address)
        except ValueError:
            raise ConfigError(f"{self.address!r} is not an IPv4 or IPv6 address", field="address") from None
        text = str(self.port)
        if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65535):
            raise ConfigError(f"{self.port!r} is not a port (1 to 65535)", field="port")

    def metadata(self) -> EndpointMetadata:
        """The entry as the engine knows it."""
        return EndpointMetadata(
            id=f"{self.namespace}/{self.name}",
            name=self.name,
            namespace=self.namespace,
            address=self.address,
            port=int(self.port),
            labels=dict(self.labels),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The whole file."""

    endpoints: tuple[Entry, ...] = ()


def read(path: Path) -> list[EndpointMetadata]:
    """The endpoints that the file lists. Raises ConfigError."""
    try:
        with path.open("rb") as file:
            text = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", source=str(path)) from None
    if len(text) > MAX_FILE_BYTES:
        raise ConfigError(f"is larger than {MAX_FILE_BYTES} bytes", source=str(path))
    try:
        found = [entry.metadata() for entry in decode(Document, _loaded(text)).endpoints]
    except ConfigError as error:
        raise error.within(source=str(path)) from None
    seen: set[str] = set()
    for metadata in found:
        if metadata.id in seen:
            raise ConfigError(f'"{metadata.id}" is listed twice', source=str(path), field="endpoints")
        seen.add(metadata.id)
    return found


class FileEndpoints:
    """Discovery by file: there is no pool object, so the pool is always known."""

    pool_known = True
    app_protocol = ""

    def __init__(self, path: Path, *, watch: bool, sleep: Sleep = asyncio.sleep) -> None:
        self._path = path
        self._watch = watch
        self._sleep = sleep
        self._seen: _Identity | None = None

    async def load(self, endpoints: Endpoints) -> None:
        """Read the file once. Raises ConfigError."""
        self._seen = _identity(self._path)
        endpoints.replace_all(read(self._path))

    async def run(self, endpoints: Endpoints) -> None:
        """Read the file again whenever it is written or replaced; what cannot be read is logged, and the endpoints stay."""
        while self._watch:
            await self._sleep(LOOK_SECONDS)
            self.look(endpoints)

    def look(self, endpoints: Endpoints) -> None:
        """Take over the file if it is another one than last time."""
        identity = _identity(self._path)
        if identity == self._seen:
            return
        self._seen = identity
        try:
            wanted = read(self._path)
        except ConfigError as error:
            _log.error("endpoints file is unusable, the endpoints stay as they were", extra={"fields": {"error": str(error)}})
            return
        endpoints.replace_all(wanted)
        _log.info("endpoints file was read", extra={"fields": {"path": str(self._path), "endpoints": len(wanted)}})


def _identity(path: Path) -> _Identity | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _loaded(text: bytes) -> Any:
    try:
        if text.lstrip().startswith(b"{"):
            return json.loads(text)
        return yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader in C
    except (ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"is neither YAML nor JSON: {' '.join(str(error).split())}") from None


_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
