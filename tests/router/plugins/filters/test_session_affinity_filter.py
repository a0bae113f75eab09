import pytest

from router.plugins.filters.session_affinity_filter import TYPE, Parameters, SessionAffinityFilter
from router.sessions.affinity import encode_token
from tests.support.engine import candidates, inference_request, make_handle, names_of, result_of


@pytest.mark.parametrize(
    ("token", "kept"),
    [
        pytest.param(encode_token("default/b-rank-0"), "b", id="its-endpoint"),
        pytest.param("?", "abc", id="O03"),
        pytest.param(encode_token("default/gone-rank-0"), "abc", id="gone"),
        pytest.param("", "abc", id="none"),
    ],
)
def test_the_endpoint_of_the_token_is_kept(token: str, kept: str) -> None:
    request = inference_request(headers={"x-session-token": token})

    assert names_of(SessionAffinityFilter(TYPE, Parameters(), make_handle()).filter(request, candidates(*"abc"))) == list(kept)


async def test_a_remembered_session_stays() -> None:
    plugin, pool = SessionAffinityFilter(TYPE, Parameters(strategy="session_id"), make_handle()), candidates("a", "b")
    request = inference_request(headers={"x-session-id": "s"})
    await plugin.before_request(request, result_of(default=pool[1]))

    assert names_of(plugin.filter(request, pool)) == ["b"]


async def test_the_client_is_told_its_endpoint() -> None:
    plugin, (endpoint,) = SessionAffinityFilter(TYPE, Parameters(), make_handle()), candidates("a")
    added: dict[str, str] = {}

    await plugin.on_response_headers(inference_request(), result_of(default=endpoint), added)

    assert added == {"x-session-token": encode_token("default/a-rank-0")}
