"""What the simulator says about a flag without effect is what the local runner looks for."""

import pytest

from local.stack import WARNING
from simulator.options import parse, warn


def test_the_runner_finds_the_simulators_warning(capsys: pytest.CaptureFixture[str]) -> None:
    warn(parse(["serve", "m", "--nonsense"], {}))

    assert capsys.readouterr().err == f"{WARNING}--nonsense is not known and has no effect\n"
