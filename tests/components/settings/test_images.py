"""Image references."""

import pytest
from pydantic import TypeAdapter, ValidationError

from components.settings.images import Image, pull_policy

ADAPTER: TypeAdapter[str] = TypeAdapter(Image)
DIGEST = "sha256:" + "0a" * 32


@pytest.mark.parametrize(
    "image", ["a:1", "registry.example:5000/team/a:v1.2-rc_1", f"a@{DIGEST}", f"a/b:v1@{DIGEST}", f"a:latest@{DIGEST}", "a/b:main"]
)
def test_a_version_or_a_digest_is_enough(image: str) -> None:
    assert ADAPTER.validate_python(image) == image


@pytest.mark.parametrize("image", ["a", "registry.example:5000/a", "a:latest", "a@sha256:12", "a b:1", ":1", "A:1", ""])
def test_what_names_no_image_or_any_image_is_refused(image: str) -> None:
    with pytest.raises(ValidationError):
        ADAPTER.validate_python(image)


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("a:main", "Always"),
        ("a:nightly", "Always"),
        ("a:v1", "IfNotPresent"),
        (f"a:main@{DIGEST}", "IfNotPresent"),
        (f"a@{DIGEST}", "IfNotPresent"),
    ],
)
def test_moving_tags_are_pulled_each_time(image: str, policy: str) -> None:
    assert pull_policy(image) == policy
