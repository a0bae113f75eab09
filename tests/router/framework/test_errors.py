import pytest

from router.framework.errors import ConfigError, DroppedReason, ErrorCode, RequestError


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ConfigError("bad"), "bad"),
        (ConfigError("bad", source="a.yaml"), "a.yaml: bad"),
        (ConfigError("bad", source="a.yaml", plugin="p", field="f"), 'a.yaml, plugin "p", field "f": bad'),
    ],
    ids=["alone", "file", "everything"],
)
def test_text_names_what_is_known(error: ConfigError, text: str) -> None:
    assert str(error) == text


@pytest.mark.parametrize(
    ("inner", "outer", "path"), [("a", "b", "b.a"), ("", "b", "b"), ("a", "", "a"), ("[1].a", "b", "b[1].a"), ("", "", "")]
)
def test_outer_levels_add_to_the_path(inner: str, outer: str, path: str) -> None:
    assert ConfigError("bad", field=inner).within(field=outer).field == path


def test_inner_levels_keep_what_they_named() -> None:
    error = ConfigError("bad", plugin="inner").within(source="a.yaml", plugin="outer")

    assert (error.source, error.plugin) == ("a.yaml", "inner")


def test_a_request_error_names_its_code() -> None:
    error = RequestError(ErrorCode.ResourceExhausted, "full", DroppedReason.SATURATED)

    assert str(error) == "ResourceExhausted - full"
    assert (error.code.value, error.dropped_reason) == (429, DroppedReason.SATURATED)
