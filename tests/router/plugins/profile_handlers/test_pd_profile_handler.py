from typing import Any

import pytest

from router.framework.errors import ConfigError
from tests.support.documents import document
from tests.support.engine import load_configuration
from tests.support.staged import Pod, Staged

PODS = {"p": Pod("10.0.0.5", "prefill"), "d": Pod("10.0.0.1", "decode")}
PREFILLER, RANK = "x-prefiller-host-port", "x-data-parallel-host-port"


def two_stages(*, tokens: int, **parameters: Any) -> str:
    decider = {"type": "prefix-based-pd-decider", "parameters": {"nonCachedTokens": tokens}}
    plugins = [decider, {"type": "pd-profile-handler", "parameters": parameters}, "decode-filter", "prefill-filter", "queue-scorer"]
    return document(plugins, {"decode": ["decode-filter", "queue-scorer"], "prefill": ["prefill-filter", "queue-scorer"]})


@pytest.mark.parametrize(
    ("tokens", "stages", "decision", "headers"),
    [(1, ["decode", "prefill"], "prefill-decode", {PREFILLER: "10.0.0.5:8000"}), (0, ["decode"], "decode-only", {})],
)
async def test_the_decider_says_whether_prefill_runs(tokens: int, stages: list[str], decision: str, headers: dict[str, str]) -> None:
    staged = Staged(two_stages(tokens=tokens), PODS)

    request, result = await staged.send()

    assert list(result.profiles) == stages
    assert staged.metrics.pd_decisions == [("m", decision)]
    assert {name: value for name, value in request.headers.items() if name == PREFILLER} == headers


async def test_ranks_are_reached_through_the_primary_port() -> None:
    request, result = await Staged(two_stages(tokens=1, primaryPort=8100), PODS).send()

    assert result.target.metadata.host_port == "10.0.0.1:8100"
    assert request.headers[RANK] == "10.0.0.1:8000"
    assert request.headers[PREFILLER] == "10.0.0.5:8000"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"deciderPluginName": "queue-scorer"}, '"queue-scorer" is not a configured decider'),
        ({"deciderPluginName": "nobody"}, 'depends on unknown plugin "nobody"'),
        ({"primaryPort": -1}, "-1 is not a port"),
        ({"prefillProfile": "decode"}, "decode is the decode profile"),
    ],
)
def test_what_makes_no_sense_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_configuration(two_stages(tokens=1, **parameters))
