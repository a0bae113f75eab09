from typing import Any

import pytest

from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.plugins.sources.models_data_source import TYPE, ModelsDataSource, Parameters
from tests.support.engine import live_endpoint, make_handle


def source(**parameters: Any) -> ModelsDataSource:
    return ModelsDataSource(TYPE, decode(Parameters, parameters), make_handle())


@pytest.mark.parametrize(
    ("parameters", "url"),
    [
        ({}, "http://[fd00::1]:8000/v1/models"),
        ({"scheme": "https", "path": "models"}, "https://[fd00::1]:8000/models"),
    ],
)
def test_the_list_is_at_the_endpoints_own_port(parameters: dict[str, str], url: str) -> None:
    assert source(**parameters).target(live_endpoint(address="fd00::1")).url == url


def test_certificates_and_interval_are_passed_on() -> None:
    given = source(interval="5s", insecureSkipVerify=False, caCertPath="ca", clientCertPath="c", clientKeyPath="k")
    target = given.target(live_endpoint())

    assert given.interval_seconds == 5
    assert (target.verify_tls, target.ca_path, target.client_cert_path, target.client_key_path) == (True, "ca", "c", "k")


@pytest.mark.parametrize(
    ("parameters", "field"), [({"scheme": "ftp"}, "scheme"), ({"interval": "-1s"}, "interval"), ({"clientCertPath": "c"}, "clientCertPath")]
)
def test_what_makes_no_sense_is_refused(parameters: dict[str, str], field: str) -> None:
    with pytest.raises(ConfigError) as raised:
        source(**parameters)

    assert raised.value.field == field
