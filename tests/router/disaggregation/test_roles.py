import pytest

from router.disaggregation.roles import DECODE, ENCODE, PREFILL, Stage
from tests.support.engine import labelled, names_of


@pytest.mark.parametrize(
    ("stage", "roles", "kept"),
    [
        pytest.param(DECODE, ["decode", "prefill", "encode", None, "both"], "034", id="O04"),
        pytest.param(PREFILL, ["decode", "prefill", "encode", None, "both"], "14", id="O05"),
        pytest.param(ENCODE, ["encode", "encode-prefill", "encode-prefill-decode", "encode-decode", None], "012", id="O06"),
        pytest.param(DECODE, ["prefill-decode", "encode-prefill-decode", "encode-prefill", ""], "01", id="decode-with-others"),
        pytest.param(PREFILL, ["prefill-decode", "encode-prefill-decode", "encode-prefill", ""], "012", id="prefill-with-others"),
    ],
)
def test_who_serves_a_stage(stage: Stage, roles: list[str | None], kept: str) -> None:
    assert names_of(stage.able(labelled(*roles))) == list(kept)
