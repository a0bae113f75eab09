import pytest

from router.framework.attributes.key import DataKey
from router.framework.endpoint import Endpoint, join_host_port
from tests.support.engine import candidate, live_endpoint

KEY = DataKey("Sample", "p", int)


@pytest.mark.parametrize(("host", "text"), [("10.0.0.1", "10.0.0.1:8000"), ("fd00::1", "[fd00::1]:8000")], ids=["ipv4", "field_P09-ipv6"])
def test_host_and_port(host: str, text: str) -> None:
    assert join_host_port(host, 8000) == text


def test_a_request_sees_its_own_values_first() -> None:
    live = live_endpoint()
    one, other = Endpoint(live), Endpoint(live)
    live.attributes[KEY] = 1
    one.write(KEY, 2)

    assert (one.read(KEY), other.read(KEY)) == (2, 1)
    assert one.read(DataKey("Sample", "q", int)) is None


def test_zero_is_a_value() -> None:
    live = live_endpoint()
    live.attributes[KEY] = 1
    view = Endpoint(live)
    view.write(KEY, 0)

    assert view.read(KEY) == 0


def test_metrics_are_those_of_the_moment() -> None:
    live = live_endpoint(waiting_requests=1)
    view = Endpoint(live)
    live.metrics = live_endpoint(waiting_requests=9).metrics

    assert view.metrics.waiting_requests == 1


def test_views_are_told_apart_by_identity() -> None:
    live = live_endpoint()

    assert len({Endpoint(live), Endpoint(live)}) == 2
    assert repr(Endpoint(live)) == "Endpoint(default/a-rank-0 10.0.0.1:8000)"


def test_an_endpoint_at_another_port_shares_everything_else() -> None:
    key = DataKey("a", "b", str)
    endpoint = candidate()
    endpoint.write(key, "value")

    moved = endpoint.at_port(9000)

    assert moved.metadata.host_port == "10.0.0.1:9000"
    assert moved.read(key) == "value"
    assert moved.live is endpoint.live
    assert endpoint.metadata.port == 8000
