from typing import Any

import pytest

from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.sessions.parameters import AffinityParameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"strategy": "other"}, "'other' is not one of"),
        ({"encodedEndpointHeaderConfig": {"header": ""}}, "must not be empty"),
        ({"sessionIdConfig": {"sources": []}}, "must not be empty"),
        ({"sessionIdConfig": {"sources": [{"header": "a", "attribute": "b"}]}}, "either a header or an attribute"),
        ({"sessionIdConfig": {"sources": [{}]}}, "either a header or an attribute"),
        ({"sessionIdConfig": {"sources": [{"attribute": "SessionID"}]}}, "attribute and producer are given together"),
        ({"sessionIdConfig": {"evictionTtlSeconds": 0}}, "0 is not above 0"),
    ],
)
def test_contradictions_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        decode(AffinityParameters, parameters)
