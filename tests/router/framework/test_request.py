from router.framework.attributes.key import DataKey
from tests.support.engine import inference_request

KEY = DataKey("Sample", "p", str)


def test_attributes_are_written_and_read() -> None:
    request = inference_request()
    request.write(KEY, "x")

    assert request.read(KEY) == "x"
    assert request.read(DataKey("Sample", "q", str)) is None


def test_requests_share_nothing() -> None:
    one, other = inference_request(), inference_request()
    one.write(KEY, "x")

    assert other.read(KEY) is None
