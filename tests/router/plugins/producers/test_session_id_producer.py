from typing import Any

import pytest

from router.framework.attributes.session import session_id
from router.framework.errors import ConfigError
from router.framework.parameters import decode
from router.payloads.completions import parse_completions
from router.plugins.producers.session_id_producer import TYPE, Parameters, SessionIdProducer
from tests.support.engine import inference_request, make_handle

PAYLOAD = parse_completions(b'{"model":"m","prompt":"p"}')


@pytest.mark.parametrize(
    ("parameters", "headers", "expected"),
    [
        ({"headerName": "X-Session"}, {"x-session": "s"}, "s"),
        ({"headerName": "X-Session"}, {}, None),
        ({"cookieName": "sid"}, {"cookie": "a=b; sid=s; c=d"}, "s"),
        ({"cookieName": "sid"}, {"cookie": 'sid="s=1"'}, "s=1"),
        ({"cookieName": "sid"}, {"cookie": "asid=s"}, None),
        ({"cookieName": "sid"}, {}, None),
    ],
)
async def test_where_the_id_comes_from(parameters: dict[str, str], headers: dict[str, str], expected: str | None) -> None:
    request = inference_request(headers=headers)

    await SessionIdProducer(TYPE, decode(Parameters, parameters), make_handle()).prepare(request, PAYLOAD)

    assert request.read(session_id()) == expected


@pytest.mark.parametrize("parameters", [{}, {"headerName": "a", "cookieName": "b"}])
def test_exactly_one_place_is_named(parameters: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="exactly one of headerName and cookieName"):
        decode(Parameters, parameters)
