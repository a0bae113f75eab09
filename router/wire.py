"""Names that leave the process: headers, metadata keys, labels, ports.

Every other module imports them from here; `tests/seam` compares them with what the other programs write.
"""

from typing import Final

# Request identity and hints (the old spelling is accepted, the new one wins).
REQUEST_ID: Final = "x-request-id"
OBJECTIVE: Final = ("x-llm-d-inference-objective", "x-gateway-inference-objective")
FAIRNESS_ID: Final = ("x-llm-d-inference-fairness-id", "x-gateway-inference-fairness-id")
MODEL_REWRITE: Final = ("x-llm-d-model-name-rewrite", "x-gateway-model-name-rewrite")
SLO_TTFT: Final = ("x-llm-d-slo-ttft-ms", "x-slo-ttft-ms")
SLO_TPOT: Final = ("x-llm-d-slo-tpot-ms", "x-slo-tpot-ms")
VIDEO_FPS: Final = "x-llm-d-video-fps"
VIDEO_DURATION: Final = "x-llm-d-video-duration-seconds"
VIDEO_RESOLUTION: Final = "x-llm-d-video-resolution"
PATH_HEADERS: Final = (":path", "x-original-path", "x-forwarded-path")

# The decision.
DESTINATION: Final = "x-gateway-destination-endpoint"
DESTINATION_SUBSET: Final = "x-gateway-destination-endpoint-subset"
DESTINATION_SERVED: Final = "x-gateway-destination-endpoint-served"
DESTINATION_SCORES: Final = "x-gateway-destination-endpoint-scores"
DROPPED_REASON: Final = "x-llm-d-request-dropped-reason"
RESPONSE_SEEN: Final = "x-went-into-resp-headers"

# Addresses that the routing sidecar obeys; a client must never choose them.
PREFILLER: Final = "x-prefiller-host-port"
ENCODERS: Final = "x-encoder-hosts-ports"
DATA_PARALLEL: Final = "x-data-parallel-host-port"
KV_CACHE_SOURCE: Final = "x-kv-cache-source-host-port"
ROUTING_HEADERS: Final = (PREFILLER, ENCODERS, DATA_PARALLEL, KV_CACHE_SOURCE)

CONTENT_LENGTH: Final = "content-length"
CONTENT_TYPE: Final = "content-type"

# Never re-emitted by the engine, in either direction.
SYSTEM_OWNED: Final = frozenset(
    (
        *FAIRNESS_ID,
        *OBJECTIVE,
        *MODEL_REWRITE,
        *SLO_TTFT,
        *SLO_TPOT,
        DESTINATION,
        DESTINATION_SUBSET,
        DESTINATION_SERVED,
        DROPPED_REASON,
        VIDEO_FPS,
        VIDEO_DURATION,
        VIDEO_RESOLUTION,
        CONTENT_LENGTH,
    )
)

# Conformance tests.
TEST_SELECTION: Final = "test-epp-endpoint-selection"
TEST_SERVED: Final = "x-conformance-test-served-endpoint"

# Dynamic metadata namespaces.
LB_NAMESPACE: Final = "envoy.lb"
SUBSET_NAMESPACE: Final = "envoy.lb.subset_hint"

EXT_PROC_SERVICE: Final = "envoy.service.ext_proc.v3.ExternalProcessor"

# Pod labels.
ROLE_LABEL: Final = "llm-d.ai/role"
ENGINE_TYPE_LABELS: Final = ("llm-d.ai/engine-type", "inference.networking.k8s.io/engine-type")
ACTIVE_PORTS_ANNOTATIONS: Final = ("llm-d.ai/active-ports", "inference.networking.k8s.io/active-ports")

DEFAULT_FAIRNESS_ID: Final = "default-flow"

EXT_PROC_PORT: Final = 9002
HEALTH_PORT: Final = 9003
METRICS_PORT: Final = 9090
