import pytest

from router.engine.control.context import RequestContext
from router.framework.errors import DroppedReason, ErrorCode, RequestError
from router.payloads.completions import parse_completions
from tests.support.exchange import Choices, CountingBooks, Rig, endpoint_metadata, make_rig


class Batch:
    def priority(self, objective: str) -> int:
        return -1


def context(headers: dict[str, str] | None = None, subset: list[object] | None = None) -> RequestContext:
    payload = parse_completions(b'{"model":"m","prompt":"x"}')
    return RequestContext(id="1", external_id="1", headers=headers or {}, payload=payload, size_bytes=26, received_at=0.0, subset=subset)


def rig(choices: Choices | None = None) -> Rig:
    return make_rig(endpoint_metadata("a"), endpoint_metadata("b", "10.0.0.2"), choices=choices)


async def test_request_is_placed_and_booked() -> None:
    made, request = rig(), context()

    await made.services.director.handle(request)

    assert request.result is not None
    assert request.result.target.metadata.name == "a"
    assert made.books.open == {"1": request.result.target}


async def test_subset_restricts_the_candidates() -> None:
    made, request = rig(), context(subset=["10.0.0.2:1"])

    await made.services.director.handle(request)

    assert request.result is not None
    assert request.result.target.metadata.name == "b"


async def test_no_candidates_are_unavailable() -> None:
    with pytest.raises(RequestError) as caught:
        await rig().services.director.handle(context(subset=[]))

    assert (caught.value.code, caught.value.dropped_reason) == (ErrorCode.ServiceUnavailable, DroppedReason.NO_ENDPOINTS)


async def test_sheddable_request_is_dropped_while_saturated() -> None:
    made = rig(Choices(priorities=Batch()))
    made.saturation.value = 1.0

    with pytest.raises(RequestError, match="system saturated"):
        await made.services.director.handle(context({"x-llm-d-inference-objective": "batch"}))

    assert not made.scheduler.seen


@pytest.mark.parametrize(
    ("failure", "code", "message"),
    [
        (RequestError(ErrorCode.Forbidden, "typed"), ErrorCode.Forbidden, "typed"),
        (ZeroDivisionError("broken"), ErrorCode.ResourceExhausted, "failed to find target endpoint: broken"),
    ],
    ids=["typed", "untyped"],
)
async def test_scheduling_error(failure: Exception, code: ErrorCode, message: str) -> None:
    made, request = rig(), context()
    made.scheduler.failure = failure

    with pytest.raises(RequestError) as caught:
        await made.services.director.handle(request)

    assert (caught.value.code, caught.value.message) == (code, message)
    assert request.result is None


async def test_uncached_prompt_is_refused_before_anything_is_booked() -> None:
    made, request = rig(), context({"prefer": "if-available"})

    with pytest.raises(RequestError, match="KV cache"):
        await made.services.director.handle(request)

    assert request.result is None
    assert not made.books.open


async def test_result_is_there_when_booking_fails() -> None:
    books = CountingBooks()
    books.failure = ZeroDivisionError("broken")
    request = context()

    with pytest.raises(RequestError, match="broken"):
        await rig(Choices(books=books)).services.director.handle(request)

    assert request.result is not None
