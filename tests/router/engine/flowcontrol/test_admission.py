from dataclasses import replace

import pytest

from router.engine.flowcontrol.admission import ShedWhenSaturated
from router.framework.errors import DroppedReason, ErrorCode, RequestError
from tests.support.engine import inference_request
from tests.support.exchange import FixedSaturation


@pytest.mark.parametrize(("priority", "saturation"), [(0, 5.0), (7, 1.0), (-1, 0.99)])
async def test_request_passes(priority: int, saturation: float) -> None:
    admission = ShedWhenSaturated(FixedSaturation(saturation))

    await admission.wait(replace(inference_request(), priority=priority), list)


@pytest.mark.parametrize("saturation", [1.0, 3.0])
async def test_sheddable_request_is_dropped_while_saturated(saturation: float) -> None:
    admission = ShedWhenSaturated(FixedSaturation(saturation))

    with pytest.raises(RequestError, match="system saturated, sheddable request dropped") as caught:
        await admission.wait(replace(inference_request(), priority=-1), list)

    assert (caught.value.code, caught.value.dropped_reason) == (ErrorCode.ResourceExhausted, DroppedReason.SATURATED)


async def test_candidates_are_looked_at_for_sheddable_requests_only() -> None:
    def unexpected() -> list[object]:
        raise AssertionError("not needed")

    await ShedWhenSaturated(FixedSaturation(2.0)).wait(inference_request(), unexpected)  # pyright: ignore[reportArgumentType]
