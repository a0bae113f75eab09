"""A small vocabulary for OpenAPI v3 schemas of custom resources."""

from collections.abc import Sequence
from typing import Any

Schema = dict[str, Any]

DNS_SUBDOMAIN = r"^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
KIND = r"^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$"


def text(description: str, **rules: Any) -> Schema:
    """A string; `rules` are OpenAPI's (minLength, pattern, enum, default, ...)."""
    return {"type": "string", "description": description, **rules}


def whole(description: str, **rules: Any) -> Schema:
    """An integer."""
    return {"type": "integer", "description": description, **rules}


def port(description: str) -> Schema:
    """An object that holds one port number."""
    number = whole("The port's number, 1 to 65535.", format="int32", minimum=1, maximum=65535)
    return record(description, {"number": number}, required=["number"])


def record(description: str, properties: dict[str, Schema], required: Sequence[str] = (), **rules: Any) -> Schema:
    """An object with named fields."""
    schema: Schema = {"type": "object", "description": description, "properties": properties, **rules}
    if required:
        schema["required"] = sorted(required)
    return schema


def array(description: str, items: Schema, list_type: str, **rules: Any) -> Schema:
    """A list; `list_type` says how server-side apply merges it (atomic, set, map)."""
    return {"type": "array", "description": description, "items": items, "x-kubernetes-list-type": list_type, **rules}


def rule(expression: str, message: str) -> Schema:
    """A CEL rule that the API server checks."""
    return {"rule": expression, "message": message}
