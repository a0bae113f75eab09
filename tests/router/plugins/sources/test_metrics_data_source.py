from typing import Any

import pytest

from router.framework.collecting import Target
from router.framework.endpoint import EndpointMetadata, LiveEndpoint
from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.plugins.sources.metrics_data_source import MetricsDataSource, Parameters
from tests.support.engine import make_handle


def target(address: str = "10.0.0.1", **parameters: Any) -> Target:
    source = MetricsDataSource("m", decode(Parameters, parameters), make_handle())
    metadata = EndpointMetadata(id="d/a", name="a", namespace="d", address=address, port=8000)
    return source.target(LiveEndpoint(metadata=metadata))


def test_the_endpoint_s_own_port_and_metrics_are_the_default() -> None:
    assert target() == Target(url="http://10.0.0.1:8000/metrics", verify_tls=False)


def test_scheme_path_and_port_can_be_others() -> None:
    found = target(scheme="https", path="stats", port=9000, insecureSkipVerify=False, caCertPath="/ca")

    assert found == Target(url="https://10.0.0.1:9000/stats", verify_tls=True, ca_path="/ca")


def test_an_ipv6_address_is_bracketed() -> None:
    assert target("fd00::1").url == "http://[fd00::1]:8000/metrics"


def test_the_interval_is_a_duration() -> None:
    source = MetricsDataSource("m", decode(Parameters, {"interval": "1s"}), make_handle())

    assert source.interval_seconds == 1.0
    assert MetricsDataSource("m", Parameters(), make_handle()).interval_seconds is None


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        pytest.param({"scheme": "ftp"}, "allowed are http, https", id="scheme"),
        pytest.param({"port": 70000}, "is not a port", id="port"),
        pytest.param({"interval": "-1s"}, "negative", id="interval"),
        pytest.param({"clientCertPath": "/c"}, "together", id="half-a-pair"),
        pytest.param({"paht": "/x"}, 'did you mean "path"', id="unknown"),
    ],
)
def test_parameters_that_cannot_work_are_refused(parameters: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        decode(Parameters, parameters)
