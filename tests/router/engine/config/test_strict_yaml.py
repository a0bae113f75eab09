from typing import Any

import pytest

from router.engine.config.strict_yaml import parse_mapping
from router.framework.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1\nb: [x, {c: true}]", {"a": 1, "b": ["x", {"c": True}]}),
        ('{"a": 1e3, "b": 2.5E-1, "c": null}', {"a": 1000.0, "b": 0.25, "c": None}),
        ("day: 2026-01-01", {"day": "2026-01-01"}),
        ("base: &b {x: 1}\nmore:\n  <<: *b\n  y: 2", {"base": {"x": 1}, "more": {"x": 1, "y": 2}}),
    ],
    ids=["yaml", "json", "dates-stay-text", "merge"],
)
def test_reads(text: str, value: dict[str, Any]) -> None:
    assert parse_mapping(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2", 'field "a": given twice (line 2)'),
        ("p:\n- {x: 1, x: 2}", 'field "x": given twice (line 2)'),
        ('{"a": 1, "a": 1}', "given twice"),
        ("a: [1", "not YAML"),
        ("a: 1\n---\nb: 2", "not YAML"),
        ("!!python/object:os.system {}", "not YAML"),
        ("- a", "is not a mapping"),
        ("text", "is not a mapping"),
        ("[a]: 1\n? [b]\n: 2", "not"),
        ("a: " + "[" * 5000, "not YAML"),
        ("\x00", "not YAML"),
    ],
    ids=["twice", "twice-deep", "twice-json", "broken", "two-documents", "objects", "list", "text", "list-as-key", "deep", "control"],
)
def test_refuses(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_mapping(text)

    assert message in str(raised.value)
