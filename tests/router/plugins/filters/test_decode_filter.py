from router.framework.plugin import NoParameters
from router.plugins.filters.decode_filter import TYPE, DecodeFilter
from tests.support.engine import inference_request, labelled, make_handle, names_of


def test_O04_by_role() -> None:
    pool = labelled("decode", "prefill", "encode", None, "both")

    assert names_of(DecodeFilter(TYPE, NoParameters(), make_handle()).filter(inference_request(), pool)) == list("034")
