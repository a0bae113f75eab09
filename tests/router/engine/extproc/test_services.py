import json
import re
import time
from random import Random

import pytest
from prometheus_client import CollectorRegistry

from router.engine.control.candidates import Candidates
from router.engine.datalayer.endpoints import Endpoints
from router.engine.extproc.exchange import Exchange
from router.engine.extproc.services import Process, services_of
from router.engine.extproc.transport.messages import BodyChunk, Direction, Headers, HeadersReply
from router.framework.compat import Compat
from router.metrics.labels import LabelCap
from router.metrics.requests import RequestMetrics
from router.metrics.scheduling import SchedulingMetrics
from tests.support.documents import AGGREGATION
from tests.support.engine import load_configuration, make_handle
from tests.support.exchange import endpoint_metadata

CHAT = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]}).encode()
HEADERS = Headers(Direction.REQUEST, ((":path", "/v1/chat/completions"),), end_of_stream=False)


def exchange(*, reference: bool = False, emit_scores: bool = False) -> Exchange:
    """One stream of an engine with the aggregated topology's plugins."""
    compat, registry, models = Compat(reference=reference), CollectorRegistry(), LabelCap()
    assembly = load_configuration(AGGREGATION, handle=make_handle(compat=compat))
    endpoints = Endpoints(assembly.listeners)
    endpoints.replace_all([endpoint_metadata("a")])
    process = Process(
        clock=time.monotonic,
        random=Random(1),
        compat=compat,
        scheduling_metrics=SchedulingMetrics(registry, models),
        request_metrics=RequestMetrics(registry, models=models),
    )
    return Exchange(services_of(assembly, Candidates(endpoints, ignore_subset=False), process, emit_scores=emit_scores))


@pytest.mark.parametrize("emit_scores", [False, True])
async def test_a_request_passes_through_all_stages(*, emit_scores: bool) -> None:
    stream = exchange(emit_scores=emit_scores)

    await stream.take(HEADERS)
    headers, _ = await stream.take(BodyChunk(Direction.REQUEST, CHAT, end_of_stream=True))

    assert isinstance(headers, HeadersReply)
    changed = dict(headers.set_headers)
    assert changed["x-gateway-destination-endpoint"] == endpoint_metadata("a").host_port
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", changed["x-request-id"])
    assert ("x-gateway-destination-endpoint-scores" in headers.metadata["envoy.lb"]) is emit_scores


@pytest.mark.parametrize(("reference", "placed"), [(False, True), (True, False)], ids=["ours", "reference"])
async def test_a_suffix_inside_a_path_segment_counts_in_the_reference_only(*, reference: bool, placed: bool) -> None:
    stream = exchange(reference=reference)

    await stream.take(Headers(Direction.REQUEST, ((":path", "/v1/mycompletions"),), end_of_stream=False))
    replies = await stream.take(BodyChunk(Direction.REQUEST, CHAT, end_of_stream=True))

    assert isinstance(replies[0], HeadersReply) is placed
