import pytest

from router.framework.errors import ConfigError, RequestError
from router.framework.parameters import decode
from router.framework.scheduling import ProfileResult
from router.plugins.profile_handlers.data_parallel_profile_handler import TYPE, DataParallelProfileHandler, Parameters
from tests.support.documents import document
from tests.support.engine import candidate, inference_request, load_configuration, make_handle


def handler() -> DataParallelProfileHandler:
    return DataParallelProfileHandler(TYPE, Parameters(primary_port=8100), make_handle())


def test_the_chosen_rank_goes_into_a_header() -> None:
    request, chosen = inference_request(), candidate()

    result = handler().process_results(request, {"default": ProfileResult(targets=(chosen,))})

    assert request.headers == {"x-data-parallel-host-port": "10.0.0.1:8000"}
    assert result.target.metadata.host_port == "10.0.0.1:8100"
    assert result.target.live is chosen.live


def test_the_profile_runs_once() -> None:
    assert handler().pick_profiles(inference_request(), ["default"], {}) == ["default"]
    assert not handler().pick_profiles(inference_request(), ["default"], {"default": None})


def test_a_failed_profile_is_an_error() -> None:
    with pytest.raises(RequestError):
        handler().process_results(inference_request(), {"default": None})


@pytest.mark.parametrize("port", [0, 65536])
def test_ports_are_checked(port: int) -> None:
    with pytest.raises(ConfigError, match="is not a port"):
        decode(Parameters, {"primaryPort": port})


def test_two_profiles_are_refused() -> None:
    with pytest.raises(ConfigError, match="runs one profile, but 2 are configured"):
        load_configuration(document([TYPE, "queue-scorer"], {"a": ["queue-scorer"], "b": ["queue-scorer"]}))
