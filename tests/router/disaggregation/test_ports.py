import pytest

from router.disaggregation.ports import check_port, through_primary_port
from router.framework.errors import ConfigError
from router.framework.scheduling import ProfileResult
from tests.support.engine import candidate, inference_request


def test_the_header_names_the_rank_and_the_target_the_port() -> None:
    request, chosen, other = inference_request(), candidate("a", address="fd00::1"), candidate("b")

    moved = through_primary_port(request, ProfileResult(targets=(chosen,), scores={chosen: 1.0, other: 0.5}), 9000)

    assert request.headers == {"x-data-parallel-host-port": "[fd00::1]:8000"}
    assert [target.metadata.host_port for target in moved.targets] == ["[fd00::1]:9000"]
    assert [(endpoint.metadata.host_port, score) for endpoint, score in moved.scores.items()] == [
        ("[fd00::1]:9000", 1.0),
        ("10.0.0.1:8000", 0.5),
    ]


@pytest.mark.parametrize(("port", "lowest"), [(0, 1), (-1, 0), (65536, 1)])
def test_what_is_no_port_is_refused(port: int, lowest: int) -> None:
    with pytest.raises(ConfigError, match=f"{port} is not a port"):
        check_port(port, lowest=lowest)
