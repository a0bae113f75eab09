from local.clock import RealClock


async def test_the_clock_moves_at_least_as_far_as_it_slept() -> None:
    clock = RealClock()
    before = clock.now()

    await clock.sleep(0.01)
    await clock.sleep(-1)

    assert clock.now() - before >= 0.009
