"""The manners of every group of settings: frozen, unknown keys refused, camelCase in YAML and snake_case in Python."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError


class Section(BaseModel):
    """A group of settings. Values are read by their YAML names only."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=False,
        serialize_by_alias=True,
        arbitrary_types_allowed=False,
    )


def refusal(key: str, value: object, reason: str) -> PydanticCustomError:
    """An error of a rule that spans keys: `key` is the dotted YAML name to change, `value` what it holds."""
    return PydanticCustomError("refused", "{reason}", {"key": key, "value": value, "reason": reason})
