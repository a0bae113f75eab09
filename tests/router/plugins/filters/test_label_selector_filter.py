from router.framework.parameters import decode
from router.plugins.filters.label_selector_filter import TYPE, LabelSelectorFilter, Parameters
from tests.support.engine import inference_request, labelled, make_handle, names_of


def test_O07_labels_in_the_list_are_kept() -> None:
    selector = decode(Parameters, {"matchExpressions": [{"key": "role", "operator": "In", "values": ["decode"]}]})
    pool = labelled("decode", None, label="role")

    assert names_of(LabelSelectorFilter(TYPE, selector, make_handle()).filter(inference_request(), pool)) == ["0"]
