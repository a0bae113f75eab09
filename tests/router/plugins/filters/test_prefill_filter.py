from router.framework.plugin import NoParameters
from router.plugins.filters.prefill_filter import TYPE, PrefillFilter
from tests.support.engine import inference_request, labelled, make_handle, names_of


def test_O05_by_role() -> None:
    pool = labelled("decode", "prefill", "encode", None, "both")

    assert names_of(PrefillFilter(TYPE, NoParameters(), make_handle()).filter(inference_request(), pool)) == list("14")
