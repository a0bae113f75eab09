"""A pool of endpoints with roles behind a loaded configuration, to send requests through it."""

from collections.abc import Mapping
from dataclasses import dataclass

from router.engine.config.assemble import Assembly
from router.engine.datalayer.endpoints import Endpoints
from router.framework.compat import Compat
from router.framework.endpoint import Endpoint, EndpointMetadata
from router.framework.request import InferenceRequest
from router.framework.scheduling import SchedulingResult
from router.payloads.chat import parse_chat
from router.wire import ROLE_LABEL
from tests.support.engine import RecordingMetrics, inference_request, load_configuration, make_handle

PICTURE = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@dataclass(frozen=True, slots=True)
class Pod:
    """Where a pod of a pool is and what it can do; no role: no label."""

    address: str
    role: str | None = None
    port: int = 8000


class Staged:
    """Requests through a configuration: producers, scheduler, pre-request plugins."""

    def __init__(self, text: str, pods: Mapping[str, Pod], *, compat: Compat | None = None, allow_experimental: bool = False) -> None:
        self.metrics = RecordingMetrics()
        handle = make_handle(metrics=self.metrics, compat=compat)
        self.assembly: Assembly = load_configuration(text, handle=handle, allow_experimental=allow_experimental)
        self.endpoints = Endpoints(self.assembly.listeners)
        self.started = 0
        for name, pod in pods.items():
            labels = {} if pod.role is None else {ROLE_LABEL: pod.role}
            metadata = EndpointMetadata(
                id=f"default/{name}-rank-0", name=name, namespace="default", address=pod.address, port=pod.port, labels=labels
            )
            self.endpoints.upsert(metadata)

    async def send(
        self, *media: str, text: str = "hello", headers: Mapping[str, str] | None = None
    ) -> tuple[InferenceRequest, SchedulingResult]:
        """Place one chat request with the given content parts beside its text."""
        self.started += 1
        request = inference_request(f"r{self.started}", headers=dict(headers or {}))
        parts = ",".join([f'{{"type":"text","text":"{text}"}}', *media])
        payload = parse_chat(f'{{"model":"m","messages":[{{"role":"user","content":[{parts}]}}]}}'.encode())
        views = [Endpoint(live) for live in self.endpoints.all()]
        for producer in self.assembly.producers:
            await producer.prepare(request, payload)
        for producer in self.assembly.producers:
            await producer.produce(request, views)
        result = self.assembly.scheduler.schedule(request, views)
        for plugin in self.assembly.pre_request:
            await plugin.before_request(request, result)
        return request, result


def image(url: str = PICTURE) -> str:
    """A content part with a picture."""
    return f'{{"type":"image_url","image_url":{{"url":"{url}"}}}}'


def video(url: str = "http://media.example/clip.mp4") -> str:
    """A content part with a video."""
    return f'{{"type":"video_url","video_url":{{"url":"{url}"}}}}'
