from collections.abc import Sequence

import pytest

from router.engine.control.candidates import Candidates
from router.engine.datalayer.endpoints import Endpoints
from router.framework.errors import DroppedReason, ErrorCode, RequestError
from tests.support.exchange import endpoint_metadata


def candidates(*places: tuple[str, int], ignore_subset: bool = False) -> Candidates:
    endpoints = Endpoints()
    endpoints.replace_all([endpoint_metadata(f"{address}-{port}", address, port) for address, port in places])
    return Candidates(endpoints, ignore_subset=ignore_subset)


POOL = (("10.0.0.1", 8000), ("10.0.0.2", 8000), ("10.0.0.2", 8001))


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (None, ["10.0.0.1:8000", "10.0.0.2:8000", "10.0.0.2:8001"]),
        (["10.0.0.2:8000"], ["10.0.0.2:8000", "10.0.0.2:8001"]),
        (["10.0.0.2"], ["10.0.0.2:8000", "10.0.0.2:8001"]),
        ([7, "10.0.0.1:9"], ["10.0.0.1:8000"]),
        (["10.0.0.1:1", "10.0.0.2:1"], ["10.0.0.1:8000", "10.0.0.2:8000", "10.0.0.2:8001"]),
    ],
    ids=["J20", "J21", "J22", "J24", "two"],
)
def test_subset_hint(hint: Sequence[object] | None, expected: list[str]) -> None:
    found = candidates(*POOL).locate(hint)

    assert [candidate.metadata.host_port for candidate in found] == expected


@pytest.mark.parametrize("hint", [[], ["10.9.9.9:1"], [""], [":"]], ids=["J23", "J25", "empty", "colon"])
def test_nothing_left_is_unavailable(hint: Sequence[object]) -> None:
    with pytest.raises(RequestError, match="failed to find endpoint candidates") as caught:
        candidates(*POOL).locate(hint)

    assert (caught.value.code, caught.value.dropped_reason) == (ErrorCode.ServiceUnavailable, DroppedReason.NO_ENDPOINTS)


def test_J26_hint_is_ignored_by_flag() -> None:
    assert len(candidates(*POOL, ignore_subset=True).locate([])) == 3


@pytest.mark.parametrize("entry", ["[fd00::1]:8000", "[fd00::1]", "fd00::1:8000", "fd00::1"])
def test_ipv6_entry_matches_with_and_without_brackets(entry: str) -> None:
    assert len(candidates(("fd00::1", 8000), ("fd00::2", 8000)).locate([entry])) == 1


def test_views_belong_to_one_request() -> None:
    located = candidates(*POOL)

    first, second = located.views(None), located.views(None)

    assert [view.live for view in first] == [view.live for view in second]
    assert not set(first) & set(second)
