from router.plugins.pre_request.prefill_header_handler import TYPE, Parameters, PrefillHeaderHandler
from tests.support.engine import candidate, inference_request, make_handle, result_of


async def test_the_stages_are_announced() -> None:
    request = inference_request(headers={"x-prefiller-host-port": "1.2.3.4:1"})
    plugin = PrefillHeaderHandler(TYPE, Parameters(prefill_profile="mine"), make_handle())

    await plugin.before_request(request, result_of(mine=candidate(address="fd00::5"), encode=candidate(), decode=candidate()))

    assert request.headers == {"x-prefiller-host-port": "[fd00::5]:8000", "x-encoder-hosts-ports": "10.0.0.1:8000"}


async def test_stages_that_did_not_run_leave_no_header() -> None:
    request = inference_request(headers={"x-prefiller-host-port": "1.2.3.4:1"})

    await PrefillHeaderHandler(TYPE, Parameters(), make_handle()).before_request(request, result_of(decode=candidate()))

    assert request.headers == {}
