"""The plugins of a configuration, deciding without a network."""

import json
from typing import Any

from router.engine.datalayer.endpoints import Endpoints
from router.framework.attributes.load import inflight_load, uncached_tokens
from router.framework.attributes.prefix_match import PrefixMatch, prefix_match
from router.framework.attributes.tokenized_prompt import tokenized_prompt
from router.framework.compat import Compat
from router.framework.control import ResponseProgress, TerminationCause
from router.framework.endpoint import Endpoint, EndpointMetadata
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult
from router.payloads.chat import parse_chat
from tests.support.documents import AGGREGATION
from tests.support.engine import inference_request, load_configuration, make_handle


class Decision:
    """One request on its way."""

    def __init__(self, request: InferenceRequest, views: dict[str, Endpoint], result: SchedulingResult) -> None:
        self.request, self.views, self.result = request, views, result

    @property
    def target(self) -> str:
        return self.result.target.metadata.name

    @property
    def scores(self) -> dict[str, float]:
        return {endpoint.metadata.name: score for endpoint, score in self.result.profiles["default"].scores.items()}

    def match(self, name: str) -> PrefixMatch:
        found = self.views[name].read(prefix_match())
        assert found is not None
        return found

    def matches(self) -> dict[str, tuple[int, int]]:
        return {name: (self.match(name).matched_blocks, self.match(name).total_blocks) for name in self.views}

    def cost(self, name: str) -> int:
        found = self.views[name].read(uncached_tokens())
        assert found is not None
        return found.tokens

    @property
    def tokens(self) -> int:
        found = self.request.read(tokenized_prompt())
        assert found is not None
        return found.length


class Deciding:
    """The plugins of the configuration, called in the order in which the engine calls them."""

    def __init__(self, *names: str, compat: Compat | None = None, configuration: str = AGGREGATION) -> None:
        self.assembly = load_configuration(configuration, handle=make_handle(compat=compat))
        self.endpoints = Endpoints(self.assembly.listeners)
        self.count = 0
        for number, name in enumerate(names, 1):
            self.endpoints.upsert(
                EndpointMetadata(id=f"default/{name}-rank-0", name=name, namespace="default", address=f"10.0.0.{number}", port=8000)
            )

    async def route(self, *parts: dict[str, Any]) -> Decision:
        self.count += 1
        request = inference_request(f"r{self.count}")
        payload = parse_chat(json.dumps({"model": "m", "messages": [{"role": "user", "content": list(parts)}]}).encode())
        views = [Endpoint(live) for live in self.endpoints.all()]
        for producer in self.assembly.producers:
            await producer.prepare(request, payload)
        for producer in self.assembly.producers:
            await producer.produce(request, views)
        result = self.assembly.scheduler.schedule(request, views)
        for plugin in self.assembly.pre_request:
            await plugin.before_request(request, result)
        return Decision(request, {view.metadata.name: view for view in views}, result)

    def progress(self, decision: Decision, *, end: bool = False) -> None:
        step = ResponseProgress(first=not end, cause=TerminationCause.NATURAL if end else None)
        for plugin in self.assembly.response_body:
            plugin.on_progress(decision.request, decision.result, step)

    def load(self, name: str) -> tuple[int, int]:
        live = self.endpoints.get(f"default/{name}-rank-0")
        assert live is not None
        load = live.attributes[inflight_load()]
        return load.requests, load.tokens


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "text": content}


def image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}
