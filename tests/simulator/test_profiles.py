"""The profiles against the measurements of one H200 (milliseconds), within 10 % where the fit claims it."""

import pytest

from simulator.profiles import H200_TP1, H200_TP2, PROFILES, Profile

ENCODE = [
    ([2040], 55.9),
    ([4096], 152),
    ([8160], 480),
    ([16170], 1806),
    ([880] * 3, 55.5),
    ([880] * 8, 139),
    ([880] * 32, 550),
    ([880] * 20, 342),
]
PREFILL = [(1024, 131), (2048, 271), (4096, 543), (8192, 1120), (16384, 2485), (32768, 5879)]
DECODE = [(1, 1024, 19.9), (8, 1024, 20.5), (32, 1024, 21.8), (64, 1024, 24.3), (128, 1024, 30.4), (32, 4096, 27.5), (48, 4096, 31.8)]


@pytest.mark.parametrize(("items", "milliseconds"), ENCODE)
@pytest.mark.parametrize("profile", [H200_TP1, H200_TP2])
def test_encoding_is_within_ten_percent(profile: object, items: list[int], milliseconds: float) -> None:
    assert isinstance(profile, type(H200_TP1))
    assert 1000 * profile.encode_seconds(items) == pytest.approx(milliseconds, rel=0.1)


@pytest.mark.parametrize("tokens", [64, 256])
def test_small_images_cost_the_floor(tokens: int) -> None:
    assert 1000 * H200_TP1.encode_seconds([tokens]) == pytest.approx(17.2, rel=0.02)


@pytest.mark.parametrize(("tokens", "milliseconds"), PREFILL)
def test_prefill_is_within_ten_percent(tokens: int, milliseconds: float) -> None:
    assert 1000 * H200_TP1.prefill_seconds(tokens, 0) == pytest.approx(milliseconds, rel=0.1)
    assert 1000 * H200_TP2.prefill_seconds(tokens, 0) == pytest.approx(milliseconds / 2, rel=0.1)


@pytest.mark.parametrize(("batch", "context", "milliseconds"), DECODE)
def test_decode_is_within_ten_percent(batch: int, context: int, milliseconds: float) -> None:
    assert 1000 * H200_TP1.floor_seconds(batch, batch * context) == pytest.approx(milliseconds, rel=0.1)


def test_two_gpus_prefill_as_fast_as_published() -> None:
    assert 1 / H200_TP2.prefill_per_token == pytest.approx(15_751, rel=0.05)


def test_chunks_cost_what_the_whole_costs() -> None:
    whole = H200_TP2.prefill_seconds(3000, 0)

    assert H200_TP2.prefill_seconds(1000, 0) + H200_TP2.prefill_seconds(2000, 1000) == pytest.approx(whole)


def test_fast_takes_no_time() -> None:
    fast = PROFILES["fast"]

    assert fast.encode_seconds([880]) == fast.prefill_seconds(9000, 10) == fast.floor_seconds(5, 5000) == 0


def test_nothing_to_encode_takes_no_time() -> None:
    assert H200_TP2.encode_seconds([]) == 0


def test_a_price_for_each_decoding_sequence() -> None:
    assert Profile(decode_base=1, decode_per_seq=0.5).floor_seconds(4, 0) == 3
