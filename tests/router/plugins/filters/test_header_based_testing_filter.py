import pytest

from router.framework.plugin import NoParameters
from router.plugins.filters.header_based_testing_filter import TYPE, HeaderBasedTestingFilter
from tests.support.engine import candidate, inference_request, make_handle, names_of


@pytest.mark.parametrize(
    ("selection", "kept"),
    [
        (None, ""),
        ("", ""),
        ("10.0.0.2", "b"),
        ("10.0.0.2:8000, 10.0.0.1", "ba"),
        ("10.0.0.1:9000", ""),
        ("[fd00::1]:8000", "c"),
        ("fd00::1,10.0.0.1,10.0.0.1:8000", "ca"),
    ],
)
def test_what_the_header_lists_is_kept_in_its_order(selection: str | None, kept: str) -> None:
    pool = [candidate("a", address="10.0.0.1"), candidate("b", address="10.0.0.2"), candidate("c", address="fd00::1")]
    request = inference_request(headers={} if selection is None else {"test-epp-endpoint-selection": selection})

    assert names_of(HeaderBasedTestingFilter(TYPE, NoParameters(), make_handle()).filter(request, pool)) == list(kept)
