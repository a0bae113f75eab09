import pytest

from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.plugins.usage_limits.static_usage_limit_policy import TYPE, Parameters, StaticUsageLimitPolicy
from tests.support.engine import make_handle


def test_keeps_its_threshold() -> None:
    assert StaticUsageLimitPolicy(TYPE, decode(Parameters, {"threshold": 0.8}), make_handle()).threshold == 0.8


def test_a_negative_threshold_is_refused() -> None:
    with pytest.raises(ConfigError, match="threshold"):
        decode(Parameters, {"threshold": -1})
