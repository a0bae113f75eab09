from collections.abc import Generator

import pytest

from router.engine.__main__ import main
from tests.support.logging_state import kept_logging


@pytest.fixture(autouse=True)
def _restore() -> Generator[None]:
    with kept_logging():
        yield


def test_help_is_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"], {}) == 0
    assert capsys.readouterr().out.startswith("usage: python -m router.engine")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["--grpc-prot=1"], 2, id="usage"),
        pytest.param(["--config-text=kind: Pod"], 1, id="configuration"),
    ],
)
def test_faults_are_one_line_and_an_exit_code(arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-v=0", *arguments], {}) == code
    errors = capsys.readouterr().err
    assert errors.startswith("router.engine: --")
    assert errors.count("\n") == 1
