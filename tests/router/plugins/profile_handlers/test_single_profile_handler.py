import pytest

from router.framework.errors import RequestError
from router.framework.scheduling import ProfileResult
from router.plugins.profile_handlers.single_profile_handler import TYPE, Parameters, SingleProfileHandler
from tests.support.engine import candidate, inference_request, make_handle


@pytest.fixture
def handler() -> SingleProfileHandler:
    return SingleProfileHandler(TYPE, Parameters(), make_handle())


def test_runs_the_profile_once(handler: SingleProfileHandler) -> None:
    result = ProfileResult(targets=(candidate(),))

    assert list(handler.pick_profiles(inference_request(), ["default"], {})) == ["default"]
    assert not handler.pick_profiles(inference_request(), ["default"], {"default": result})


def test_its_result_is_primary(handler: SingleProfileHandler) -> None:
    result = ProfileResult(targets=(candidate(),))

    outcome = handler.process_results(inference_request(), {"default": result})

    assert (outcome.primary, outcome.target) == ("default", result.targets[0])


def test_a_failed_profile_is_an_error(handler: SingleProfileHandler) -> None:
    with pytest.raises(RequestError, match="ResourceExhausted"):
        handler.process_results(inference_request(), {"default": None})
