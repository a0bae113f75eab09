import pytest

from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.plugins.filters.by_label import TYPE, ByLabel, Parameters
from tests.support.engine import inference_request, labelled, make_handle, names_of


@pytest.mark.parametrize(("allows_no_label", "kept"), [(False, "0"), (True, "02")])
def test_by_value(allows_no_label: bool, kept: str) -> None:
    parameters = decode(Parameters, {"label": "l", "validValues": ["x"], "allowsNoLabel": allows_no_label})

    assert names_of(ByLabel(TYPE, parameters, make_handle()).filter(inference_request(), labelled("x", "y", None, label="l"))) == list(kept)


@pytest.mark.parametrize(("parameters", "field"), [({"label": ""}, "label"), ({"label": "l"}, "validValues"), ({}, "label")])
def test_what_could_never_pass_is_refused(parameters: dict[str, str], field: str) -> None:
    with pytest.raises(ConfigError) as raised:
        decode(Parameters, parameters)

    assert raised.value.field == field
