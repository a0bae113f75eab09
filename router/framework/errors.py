"""Errors as values with a fixed meaning.

`ConfigError` stops the start; `RequestError` refuses one request. `engine.extproc.replies` alone turns the second into HTTP.
"""

from enum import Enum


class RouterError(Exception):
    """Root of every error raised on purpose by this package."""


class ConfigError(RouterError):
    """A document or flag that cannot be used.

    The text names what is known of: the file (or flag), the plugin, the field, the value and what is allowed.
    """

    def __init__(self, message: str, *, source: str = "", plugin: str = "", field: str = "") -> None:
        self.message, self.source, self.plugin, self.field = message, source, plugin, field
        place = ", ".join(part for part in (source, f'plugin "{plugin}"' if plugin else "", f'field "{field}"' if field else "") if part)
        super().__init__(f"{place}: {message}" if place else message)

    def within(self, *, source: str = "", plugin: str = "", field: str = "") -> "ConfigError":
        """The same error with the places an outer level knows; what an inner level already named stays."""
        dot = "." if field and self.field and not self.field.startswith("[") else ""
        path = f"{field}{dot}{self.field}"
        return ConfigError(self.message, source=self.source or source, plugin=self.plugin or plugin, field=path)


class ErrorCode(Enum):
    """Code of a refused request: its name in metrics and texts, its HTTP status as value."""

    BadRequest = 400
    Unauthorized = 401
    Forbidden = 403
    NotFound = 404
    PreconditionFailed = 412
    ResourceExhausted = 429
    Internal = 500
    ServiceUnavailable = 503


class DroppedReason(Enum):
    """Why a request was dropped, as the value of the response header `x-llm-d-request-dropped-reason`."""

    SATURATED = "rejected-saturated"
    NO_ENDPOINTS = "rejected-no-endpoints"
    TTL_EXPIRED = "rejected-ttl-expired"
    CONTEXT_CANCELLED = "rejected-context-cancelled"
    SHUTTING_DOWN = "rejected-shutting-down"
    EVICTED = "evicted"


class RequestError(RouterError):
    """One request is refused with `code`; `message` reaches the client."""

    def __init__(self, code: ErrorCode, message: str, dropped_reason: DroppedReason | None = None) -> None:
        self.code, self.message, self.dropped_reason = code, message, dropped_reason
        super().__init__(f"{code.name} - {message}")
