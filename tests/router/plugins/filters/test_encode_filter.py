from router.framework.plugin import NoParameters
from router.plugins.filters.encode_filter import TYPE, EncodeFilter
from tests.support.engine import inference_request, labelled, make_handle, names_of


def test_O06_by_role() -> None:
    pool = labelled("encode", "encode-prefill", "encode-prefill-decode", "encode-decode", None)

    assert names_of(EncodeFilter(TYPE, NoParameters(), make_handle()).filter(inference_request(), pool)) == list("012")
