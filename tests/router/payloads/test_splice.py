import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.payloads.splice import model_spans, splice_model

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.just("model"), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"model":"a"}', b'{"model":"new"}'),
        (b' {\n"x" : [1.0, {"model":"a"}] ,\t"model" :\r "a" }', b' {\n"x" : [1.0, {"model":"a"}] ,\t"model" :\r "new" }'),
        (b'{"model":"a\\"b\\\\","y":1}', b'{"model":"new","y":1}'),
        (b'{"mod\\u0065l":"a"}', b'{"mod\\u0065l":"new"}'),
        (b'{"model":"a","model":"b"}', b'{"model":"new","model":"new"}'),
        (b'{"x":"model","model":null}', b'{"x":"model","model":new}'.replace(b":new", b':"new"')),
        (b'{"x":"\\"model\\":","model":"a"}', b'{"x":"\\"model\\":","model":"new"}'),
        (b'{"x":"{","model":"a"}', b'{"x":"{","model":"new"}'),
        (b'{"x":{"model":"a"}}', b'{"model":"new","x":{"model":"a"}}'),
        (b"{ }", b'{"model":"new" }'),
        (b'{"model": null , "b":1}', b'{"model": "new" , "b":1}'),
    ],
)
def test_only_the_value_changes(body: bytes, expected: bytes) -> None:
    assert splice_model(body, "new") == expected


def test_new_name_is_escaped() -> None:
    assert json.loads(splice_model(b'{"model":"a"}', 'q"\\\nü')) == {"model": 'q"\\\nü'}


@given(
    before=st.dictionaries(st.text().filter(lambda key: key != "model"), VALUES, max_size=4),
    after=st.dictionaries(st.text().filter(lambda key: key != "model"), VALUES, max_size=4),
    old=st.text(),
    new=st.text().filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text)),
    indent=st.sampled_from([None, 1, "\t"]),
    ascii_only=st.booleans(),
)
def test_every_other_byte_stays(
    before: dict[str, Any], after: dict[str, Any], old: str, new: str, indent: int | str | None, ascii_only: bool
) -> None:
    members = {**before, "model": old, **{key: value for key, value in after.items() if key not in before}}
    text = json.dumps(members, indent=indent, ensure_ascii=ascii_only)
    body = text.encode()

    changed = splice_model(body, new)

    ((start, end),) = model_spans(body)
    assert json.loads(body[start:end]) == old
    assert changed.startswith(body[:start])
    assert changed.endswith(body[end:])
    assert json.loads(changed) == {**members, "model": new}
