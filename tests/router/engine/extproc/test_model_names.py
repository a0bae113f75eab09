from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.engine.extproc.model_names import ModelNames, model_names, renames
from tests.support.engine import inference_request

BOTH = b'{"model":"m-int","n":{"model": "m-int"}}'


def names(*, one_spelling: bool = False) -> ModelNames:
    return ModelNames("m-int", "m", one_spelling=one_spelling)


@pytest.mark.parametrize("one_spelling", [False, True], ids=["ours", "reference"])
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(b'{"model":"m-int"}', b'{"model":"m"}', id="J60"),
        pytest.param(b'{"model": "m-int"}', b'{"model": "m"}', id="J61"),
        pytest.param(b'{"model":"m-int-2"}', b'{"model":"m-int-2"}', id="J62"),
        pytest.param(b'{"model":"m-int"} {"model":"m-int"}', b'{"model":"m"} {"model":"m"}', id="twice"),
        pytest.param(b'{"text":"\\"model\\":\\"m-int\\""}', b'{"text":"\\"model\\":\\"m-int\\""}', id="in-a-text"),
    ],
)
def test_names_in_a_chunk(body: bytes, expected: bytes, one_spelling: bool) -> None:
    assert names(one_spelling=one_spelling).restore(body, last=True) == expected


def test_J63_reference_replaces_one_spelling() -> None:
    assert names(one_spelling=True).restore(BOTH, last=True) == b'{"model":"m","n":{"model": "m-int"}}'


def test_our_names_are_replaced_in_both_spellings() -> None:
    assert names().restore(BOTH, last=True) == b'{"model":"m","n":{"model": "m"}}'


@given(cuts=st.lists(st.integers(0, len(BOTH)), max_size=6), trailers=st.booleans())
def test_chunks_may_be_cut_anywhere(cuts: Sequence[int], trailers: bool) -> None:
    restoring, borders = names(), [0, *sorted(cuts), len(BOTH)]
    pieces = [restoring.restore(BOTH[start:end], last=not trailers and end == len(BOTH)) for start, end in pairwise(borders)]

    assert b"".join((*pieces, restoring.rest())) == b'{"model":"m","n":{"model": "m"}}'


@given(body=st.lists(st.sampled_from([b'"', b"model", b":", b" ", b'"model":"m-int"', b"m-int", b'"mod', b"x"])), cut=st.integers(0, 60))
def test_a_cut_changes_nothing(body: list[bytes], cut: int) -> None:
    whole, cutting = b"".join(body), names()

    pieces = cutting.restore(whole[:cut]), cutting.restore(whole[cut:], last=True)

    assert b"".join(pieces) == names().restore(whole, last=True)


def test_only_what_may_be_a_member_is_held_back() -> None:
    restoring = names()

    assert restoring.restore(b'{"id":1,"mod') == b'{"id":1,'
    assert restoring.restore(b"e") == b""
    assert restoring.restore(b"s") == b'"modes'
    assert restoring.rest() == b""


def test_a_chunk_without_name_is_the_same_object() -> None:
    chunk = b'data: {"choices":[]}\n\n'

    assert names().restore(chunk) is chunk


def test_names_are_written_as_json_does() -> None:
    assert ModelNames('a"b', "ü\n").restore(b'{"model":"a\\"b"}') == '{"model":"ü\\n"}'.encode()


@pytest.mark.parametrize(("incoming", "target", "needed"), [("m", "m", False), ("m", "n", True), ("", "n", False), ("m", "", False)])
def test_names_that_agree_need_nothing(incoming: str, target: str, needed: bool) -> None:
    request = replace(inference_request(), incoming_model=incoming, target_model=target)

    assert (model_names(request, one_spelling=False) is not None) is needed


@pytest.mark.parametrize(
    ("kind", "replaceable"),
    [("application/json", True), ("text/event-stream", True), ("application/grpc", False), ("application/grpc+proto", False), ("", True)],
)
def test_lengths_in_grpc_forbid_replacing(kind: str, replaceable: bool) -> None:
    assert renames({"content-type": kind}) is replaceable
