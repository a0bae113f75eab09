"""The manners of groups of settings."""

import pytest
from pydantic import ValidationError

from components.settings.section import Section, refusal


class Shelf(Section):
    """An example."""

    book_count: int = 1


def test_yaml_names_are_camel_case() -> None:
    assert Shelf.model_validate({"bookCount": 3}).book_count == 3


@pytest.mark.parametrize("key", ["book_count", "books"])
def test_other_names_are_refused(key: str) -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        Shelf.model_validate({key: 3})


def test_settings_are_frozen() -> None:
    shelf = Shelf.model_validate({})

    with pytest.raises(ValidationError, match="frozen"):
        setattr(shelf, "book_count", 2)  # noqa: B010 - a checker would refuse the plain assignment


def test_a_refusal_carries_key_value_and_reason() -> None:
    error = refusal("a.b", 3, "too {many}")

    assert (error.context or {}) == {"key": "a.b", "value": 3, "reason": "too {many}"}
