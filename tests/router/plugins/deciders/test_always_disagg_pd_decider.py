from router.framework.plugin import NoParameters
from router.plugins.deciders.always_disagg_pd_decider import TYPE, AlwaysDisaggPdDecider
from tests.support.engine import inference_request, make_handle


def test_always_yes() -> None:
    assert AlwaysDisaggPdDecider(TYPE, NoParameters(), make_handle()).decide(inference_request(), None)
