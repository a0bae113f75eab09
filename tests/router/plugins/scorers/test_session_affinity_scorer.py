from router.plugins.scorers.session_affinity_scorer import TYPE, Parameters, SessionAffinityScorer
from tests.support.engine import candidates, inference_request, make_handle, result_of

TOKEN = "ZGVmYXVsdC9hLXJhbmstMA=="  # default/a-rank-0


async def test_O02_the_endpoint_of_the_token_is_preferred() -> None:
    scorer, pool = SessionAffinityScorer(TYPE, Parameters(), make_handle()), candidates("a", "b")

    assert list(scorer.score(inference_request(headers={"x-session-token": TOKEN}), pool).values()) == [1.0, 0.0]
    assert list(scorer.score(inference_request(headers={"x-session-token": "?"}), pool).values()) == [0.0, 0.0]


async def test_the_client_is_told_its_endpoint() -> None:
    scorer, (endpoint,) = SessionAffinityScorer(TYPE, Parameters(), make_handle()), candidates("a")
    added: dict[str, str] = {}

    await scorer.on_response_headers(inference_request(), result_of(default=endpoint), added)

    assert added == {"x-session-token": TOKEN}


async def test_a_remembered_session_is_preferred() -> None:
    scorer = SessionAffinityScorer(TYPE, Parameters(strategy="session_id"), make_handle())
    pool = candidates("a", "b")
    request = inference_request(headers={"x-session-id": "s"})

    await scorer.before_request(request, result_of(default=pool[1]))

    assert list(scorer.score(request, pool).values()) == [0.0, 1.0]
