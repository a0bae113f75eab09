import pytest

from router.framework.attributes.served_endpoint import served_endpoint
from router.framework.plugin import NoParameters
from router.plugins.response.destination_endpoint_served_verifier import NOT_REPORTED, TYPE, DestinationEndpointServedVerifier
from tests.support.engine import candidate, inference_request, make_handle, result_of


@pytest.mark.parametrize(("reported", "shown"), [("10.0.0.1:8000", "10.0.0.1:8000"), (None, NOT_REPORTED)])
async def test_what_the_proxy_reports_is_shown(reported: str | None, shown: str) -> None:
    request, added = inference_request(), dict[str, str]()
    if reported is not None:
        request.write(served_endpoint(), reported)

    await DestinationEndpointServedVerifier(TYPE, NoParameters(), make_handle()).on_response_headers(
        request, result_of(default=candidate()), added
    )

    assert added == {"x-conformance-test-served-endpoint": shown}
