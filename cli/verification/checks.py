"""The steps of a verification, each a question to the running stack.

`local.stack` and the guide's operator look at the same things: the colour of a picture, where a repeat lands, what each
pod counted, then bodies, media and forms of answer that break first when something in the path is wrong.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from cli.verification import pictures
from cli.verification.client import Answer, Client
from cli.verification.counters import CounterError, CounterSource
from cli.verification.counting import SETTLE_SECONDS, Growth, Meter, together
from cli.verification.media_server import serve_picture
from cli.verification.report import Report, Step
from cli.verification.requests import ChatRequest, Requests

NO_COUNTERS = "the pods' counters are not known here; give --pod NAME=URL, or --namespace and --selector"
HIT_SHARE = 0.8  # of the prompt's tokens: the last block is always computed
LARGE_BODY_BYTES = 10_000_000
AT_ONCE = 4  # colour requests in flight


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The stack to check. `local`: its pods run on this machine and can fetch from it. Counters may come late by `settle_seconds`."""

    url: str
    model: str
    client: Client
    counters: CounterSource | None = None
    local: bool = False
    settle_seconds: float = SETTLE_SECONDS


class Verification:
    """Runs all steps against one target, in order; a step that fails does not keep the next from being tried."""

    def __init__(self, target: Target, progress: Callable[[str], None] = lambda _text: None) -> None:
        self._target = target
        self._progress = progress
        self._requests = Requests(target.model)
        self._meter = Meter(target.counters, target.settle_seconds) if target.counters is not None else None
        self._red = pictures.data_url(pictures.png(pictures.COLOURS["red"]), pictures.PNG)

    async def run(self) -> Report:
        """Everything, as one report."""
        began = time.perf_counter()
        steps: list[Step] = []
        for check in (
            self._red_image,
            self._repeats,
            self._colours,
            self._photograph,
            self._from_url,
            self._video,
            self._large,
            self._stream,
        ):
            self._progress(check.__name__.strip("_").replace("_", " "))
            steps += await self._guarded(check)
        return Report(url=self._target.url, model=self._target.model, steps=steps, seconds=time.perf_counter() - began)

    async def _guarded(self, check: Callable[[], Awaitable[Sequence[Step]]]) -> Sequence[Step]:
        """The check's steps; counters that cannot be read are a failed step, not the end of the verification."""
        try:
            return await check()
        except CounterError as error:
            name = check.__name__.strip("_").replace("_", "-")
            return [Step(id=name, expectation="every pod's counters can be read", observed=str(error), verdict="failed")]

    async def _red_image(self) -> list[Step]:
        answer = await self._target.client.ask(self._requests.about_image(self._red))
        return [_names("image-red", answer, "red")]

    async def _repeats(self) -> list[Step]:
        """The guide's second step: the long prompt with one picture twice, a request without media, the counters of every pod."""
        await self._start()
        first = await self._target.client.ask(self._requests.long_with_image(self._red))
        cold = await self._growth(1)
        second = await self._target.client.ask(self._requests.long_with_image(self._red))
        warm = await self._growth(1)
        text = await self._target.client.ask(self._requests.text_only())
        last = await self._growth(1)
        return [
            _answered("repeat-answered", "both image requests are answered", [first, second]),
            _answered("text-only", "a request without media is answered", [text]),
            *(_repeat_steps(cold, warm, last, second.prompt_tokens) if cold and warm and last else _uncounted(REPEAT_STEPS)),
        ]

    async def _colours(self) -> list[Step]:
        """Twenty pictures; the answers must name their colours."""
        urls = {
            **{f"colour-{name}-png": (name, pictures.data_url(pictures.png(rgb), pictures.PNG)) for name, rgb in pictures.COLOURS.items()},
            **{
                f"colour-{name}-jpeg": (name, pictures.data_url(pictures.jpeg(rgb), pictures.JPEG))
                for name, rgb in pictures.COLOURS.items()
            },
        }
        limit = asyncio.Semaphore(AT_ONCE)

        async def ask(url: str) -> Answer:
            async with limit:
                return await self._target.client.ask(self._requests.about_image(url))

        async with asyncio.TaskGroup() as group:
            tasks = {step: group.create_task(ask(url)) for step, (_, url) in urls.items()}
        return [_names(step, task.result(), urls[step][0]) for step, task in tasks.items()]

    async def _photograph(self) -> list[Step]:
        content = await asyncio.to_thread(pictures.photograph)
        expectation = f"a photograph (JPEG, {len(content) / 1e6:.1f} MB) is answered, by one pod"
        return await self._one_pod("photograph", expectation, self._requests.about_image(pictures.data_url(content, pictures.JPEG)))

    async def _from_url(self) -> list[Step]:
        expectation = "a picture given by its URL is fetched by the pod and named"
        if not self._target.local:
            return [Step(id="image-url", expectation=expectation, observed=NOT_LOCAL, verdict="skipped")]
        async with serve_picture(pictures.png(pictures.COLOURS["green"]), pictures.PNG, "green-64x64.png") as url:
            answer = await self._target.client.ask(self._requests.about_image(url))
        return [_names("image-url", answer, "green", expectation)]

    async def _video(self) -> list[Step]:
        request = self._requests.about_video(pictures.data_url(pictures.video(), "video/x-msvideo"))
        return await self._one_pod("video", "a video with its three headers is answered, by one pod", request)

    async def _large(self) -> list[Step]:
        content = pictures.png(pictures.COLOURS["blue"], padding_bytes=LARGE_BODY_BYTES * 3 // 4)
        request = self._requests.about_image(pictures.data_url(content, pictures.PNG))
        expectation = f"a body of {len(request.body) / 1e6:.1f} MB passes whole: the answer names blue"
        return [_names("large-body", await self._target.client.ask(request), "blue", expectation)]

    async def _stream(self) -> list[Step]:
        answer = await self._target.client.stream(self._requests.streamed(self._red))
        fine = answer.status == 200 and answer.chunks > 1 and answer.ended and answer.completion_tokens > 0
        observed = f"{answer.chunks} chunks, {'[DONE]' if answer.ended else 'no [DONE]'}, {answer.completion_tokens} completion tokens"
        return [
            Step(
                id="stream",
                expectation="an answer in chunks ends with its usage and [DONE]",
                observed=observed if answer.status == 200 else answer.shown,
                verdict="ok" if fine else "failed",
                seconds=answer.seconds,
            )
        ]

    async def _one_pod(self, step: str, expectation: str, request: ChatRequest) -> list[Step]:
        """A request that is answered and counted once, in one pod."""
        await self._start()
        answer = await self._target.client.ask(request)
        growth = await self._growth(1)
        fine = answer.status == 200 and bool(answer.text) and (growth is None or growth.requests == 1)
        observed = answer.shown if growth is None else f"{answer.shown} ({growth.describe()})"
        return [Step(id=step, expectation=expectation, observed=observed, verdict="ok" if fine else "failed", seconds=answer.seconds)]

    async def _start(self) -> None:
        if self._meter is not None:
            await self._meter.start()

    async def _growth(self, expected_requests: int) -> Growth | None:
        return None if self._meter is None else await self._meter.growth(expected_requests)


NOT_LOCAL = "the pods are not on this machine and could not fetch from it"
REPEAT_STEPS: Mapping[str, str] = {
    "repeat-same-pod": "both image requests land on the same pod",
    "repeat-prefix-hits": "the second finds about its whole prompt in that pod's prefix cache",
    "repeat-mm-hit": "the second finds its picture in that pod's processor cache",
    "counters": "every pod is counted, and the requests add up",
}


def _repeat_steps(cold: Growth, warm: Growth, text: Growth, prompt_tokens: int) -> list[Step]:
    pod = warm.busy[0] if warm.busy else "none"
    same = len(cold.busy) == len(warm.busy) == 1 and cold.busy == warm.busy
    hits = warm.by_pod[pod].prefix_hits if warm.busy else 0
    media = warm.by_pod[pod].media_hits if warm.busy else 0
    every = together(cold, warm, text)
    found = {
        "repeat-same-pod": (same, f"{pod} +2" if same else f"first {cold.describe()}; second {warm.describe()}"),
        "repeat-prefix-hits": (
            prompt_tokens > 0 and HIT_SHARE * prompt_tokens <= hits <= prompt_tokens,
            f"+{hits:.0f} of {prompt_tokens} tokens",
        ),
        "repeat-mm-hit": (media == 1, f"+{media:.0f}"),
        "counters": (every.requests == 3, f"{len(every.by_pod)} pods, +{every.requests:.0f} requests for 3 sent"),
    }
    details = {"counters": tuple(every.lines())}
    return [
        Step(
            id=name,
            expectation=REPEAT_STEPS[name],
            observed=observed,
            verdict="ok" if fine else "failed",
            details=details.get(name, ()),
        )
        for name, (fine, observed) in found.items()
    ]


def _uncounted(steps: Mapping[str, str]) -> list[Step]:
    return [Step(id=name, expectation=text, observed=NO_COUNTERS, verdict="skipped") for name, text in steps.items()]


def _names(step: str, answer: Answer, word: str, expectation: str = "") -> Step:
    """A step that holds when the answer contains `word`."""
    fine = answer.status == 200 and word in answer.text.lower()
    return Step(
        id=step,
        expectation=expectation or f"the answer names {word}",
        observed=answer.shown,
        verdict="ok" if fine else "failed",
        seconds=answer.seconds,
    )


def _answered(step: str, expectation: str, answers: Sequence[Answer]) -> Step:
    fine = all(answer.status == 200 and answer.text for answer in answers)
    observed = ", ".join(f"HTTP {answer.status}" if answer.status == 200 else answer.shown for answer in answers)
    return Step(
        id=step, expectation=expectation, observed=observed, verdict="ok" if fine else "failed", seconds=sum(a.seconds for a in answers)
    )
