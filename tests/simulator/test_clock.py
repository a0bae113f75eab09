import asyncio

from simulator.clock import RealClock, VirtualClock


async def test_sleepers_wake_in_the_order_of_their_times() -> None:
    clock, woken = VirtualClock(start=0), list[tuple[str, float]]()

    async def nap(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.now()))

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(nap("late", 2))
        tasks.create_task(nap("early", 1))
        await clock.advance(5)

    assert woken == [("early", 1), ("late", 2)]
    assert clock.now() == clock.wall() == 5


async def test_a_sleeper_can_sleep_again_inside_one_advance() -> None:
    clock, ticks = VirtualClock(start=0), list[float]()

    async def tick() -> None:
        for _ in range(3):
            await clock.sleep(1)
            ticks.append(clock.now())

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(tick())
        await clock.advance(3)

    assert ticks == [1, 2, 3]


async def test_time_does_not_pass_by_itself() -> None:
    clock = VirtualClock(start=7)

    await clock.sleep(0)

    assert clock.now() == 7


async def test_the_real_clock_never_goes_back() -> None:
    clock = RealClock()
    before = clock.now()

    await clock.sleep(0)

    assert clock.now() >= before
    assert clock.wall() > 1_000_000_000
