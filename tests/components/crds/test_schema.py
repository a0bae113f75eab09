"""The vocabulary of schemas."""

from components.crds.schema import array, port, record, rule, text, whole


def test_plain_values_carry_their_rules() -> None:
    assert text("d", minLength=1) == {"type": "string", "description": "d", "minLength": 1}
    assert whole("d", minimum=0) == {"type": "integer", "description": "d", "minimum": 0}


def test_records_sort_what_they_require() -> None:
    found = record("d", {"b": text("b"), "a": text("a")}, ["b", "a"])

    assert found["required"] == ["a", "b"]
    assert "required" not in record("d", {})


def test_lists_say_how_they_merge() -> None:
    assert array("d", text("i"), "atomic")["x-kubernetes-list-type"] == "atomic"


def test_ports() -> None:
    number = port("d")["properties"]["number"]

    assert (number["minimum"], number["maximum"], number["format"]) == (1, 65535, "int32")


def test_rules() -> None:
    assert rule("self > 0", "positive") == {"rule": "self > 0", "message": "positive"}
