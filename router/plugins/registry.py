"""The catalogue of plugin types: what a configuration document may name.

A new plugin is a file in its family's folder, a row here and a test beside it.
"""

from typing import Final

from router.framework.plugin import Entry
from router.plugins.deciders import always_disagg_multimodal_decider, always_disagg_pd_decider, prefix_based_pd_decider
from router.plugins.discovery import file_discovery
from router.plugins.extractors import core_metrics_extractor
from router.plugins.fairness import global_strict_fairness_policy
from router.plugins.filters import decode_filter, encode_filter, prefill_filter, prefix_cache_affinity_filter
from router.plugins.ordering import fcfs_ordering_policy
from router.plugins.parsers import (
    anthropic_parser,
    openai_parser,
    passthrough_parser,
    sglanghttp_parser,
    vertexai_parser,
    vllmgrpc_parser,
    vllmhttp_parser,
)
from router.plugins.pickers import max_score_picker, random_picker, weighted_random_picker
from router.plugins.producers import approx_prefix_cache_producer, inflight_load_producer, mm_embeddings_cache_producer, token_producer
from router.plugins.profile_handlers import disagg_profile_handler, single_profile_handler
from router.plugins.saturation import utilization_detector
from router.plugins.scorers import (
    active_request_scorer,
    kv_cache_utilization_scorer,
    load_aware_scorer,
    mm_embeddings_cache_scorer,
    prefix_cache_scorer,
    queue_scorer,
    running_requests_size_scorer,
    token_load_scorer,
)
from router.plugins.sources import endpoint_notification_source, metrics_data_source
from router.plugins.usage_limits import static_usage_limit_policy

ENTRIES: Final = (
    Entry(type_name=file_discovery.TYPE, build=file_discovery.FileDiscovery, parameters=file_discovery.Parameters),
    Entry(
        type_name=core_metrics_extractor.TYPE,
        build=core_metrics_extractor.CoreMetricsExtractor,
        parameters=core_metrics_extractor.Parameters,
    ),
    Entry(type_name=global_strict_fairness_policy.TYPE, build=global_strict_fairness_policy.GlobalStrictFairnessPolicy),
    Entry(
        type_name=prefix_cache_affinity_filter.TYPE,
        build=prefix_cache_affinity_filter.PrefixCacheAffinityFilter,
        parameters=prefix_cache_affinity_filter.Parameters,
    ),
    Entry(type_name=fcfs_ordering_policy.TYPE, build=fcfs_ordering_policy.FcfsOrderingPolicy),
    Entry(type_name=anthropic_parser.TYPE, build=anthropic_parser.AnthropicParser),
    Entry(type_name=openai_parser.TYPE, build=openai_parser.OpenaiParser),
    Entry(type_name=passthrough_parser.TYPE, build=passthrough_parser.PassthroughParser),
    Entry(type_name=sglanghttp_parser.TYPE, build=sglanghttp_parser.SglanghttpParser),
    Entry(type_name=vertexai_parser.TYPE, build=vertexai_parser.VertexaiParser),
    Entry(type_name=vllmgrpc_parser.TYPE, build=vllmgrpc_parser.VllmgrpcParser),
    Entry(type_name=vllmhttp_parser.TYPE, build=vllmhttp_parser.VllmhttpParser),
    Entry(type_name=max_score_picker.TYPE, build=max_score_picker.MaxScorePicker, parameters=max_score_picker.Parameters),
    Entry(type_name=random_picker.TYPE, build=random_picker.RandomPicker, parameters=random_picker.Parameters),
    Entry(
        type_name=weighted_random_picker.TYPE,
        build=weighted_random_picker.WeightedRandomPicker,
        parameters=weighted_random_picker.Parameters,
    ),
    Entry(
        type_name=approx_prefix_cache_producer.TYPE,
        build=approx_prefix_cache_producer.ApproxPrefixCacheProducer,
        parameters=approx_prefix_cache_producer.Parameters,
    ),
    Entry(
        type_name=inflight_load_producer.TYPE,
        build=inflight_load_producer.InflightLoadProducer,
        parameters=inflight_load_producer.Parameters,
    ),
    Entry(type_name=token_producer.TYPE, build=token_producer.TokenProducer, parameters=token_producer.Parameters),
    Entry(type_name=single_profile_handler.TYPE, build=single_profile_handler.SingleProfileHandler),
    Entry(type_name=utilization_detector.TYPE, build=utilization_detector.UtilizationDetector, parameters=utilization_detector.Parameters),
    Entry(
        type_name=active_request_scorer.TYPE, build=active_request_scorer.ActiveRequestScorer, parameters=active_request_scorer.Parameters
    ),
    Entry(type_name=kv_cache_utilization_scorer.TYPE, build=kv_cache_utilization_scorer.KvCacheUtilizationScorer),
    Entry(type_name=load_aware_scorer.TYPE, build=load_aware_scorer.LoadAwareScorer, parameters=load_aware_scorer.Parameters),
    Entry(type_name=prefix_cache_scorer.TYPE, build=prefix_cache_scorer.PrefixCacheScorer, parameters=prefix_cache_scorer.Parameters),
    Entry(type_name=queue_scorer.TYPE, build=queue_scorer.QueueScorer),
    Entry(type_name=running_requests_size_scorer.TYPE, build=running_requests_size_scorer.RunningRequestsSizeScorer),
    Entry(type_name=token_load_scorer.TYPE, build=token_load_scorer.TokenLoadScorer, parameters=token_load_scorer.Parameters),
    Entry(type_name=endpoint_notification_source.TYPE, build=endpoint_notification_source.EndpointNotificationSource),
    Entry(type_name=metrics_data_source.TYPE, build=metrics_data_source.MetricsDataSource, parameters=metrics_data_source.Parameters),
    Entry(
        type_name=static_usage_limit_policy.TYPE,
        build=static_usage_limit_policy.StaticUsageLimitPolicy,
        parameters=static_usage_limit_policy.Parameters,
    ),
    Entry(type_name=always_disagg_multimodal_decider.TYPE, build=always_disagg_multimodal_decider.AlwaysDisaggMultimodalDecider),
    Entry(type_name=always_disagg_pd_decider.TYPE, build=always_disagg_pd_decider.AlwaysDisaggPdDecider),
    Entry(
        type_name=prefix_based_pd_decider.TYPE,
        build=prefix_based_pd_decider.PrefixBasedPdDecider,
        parameters=prefix_based_pd_decider.Parameters,
    ),
    Entry(type_name=decode_filter.TYPE, build=decode_filter.DecodeFilter),
    Entry(type_name=encode_filter.TYPE, build=encode_filter.EncodeFilter),
    Entry(type_name=prefill_filter.TYPE, build=prefill_filter.PrefillFilter),
    Entry(
        type_name=mm_embeddings_cache_producer.TYPE,
        build=mm_embeddings_cache_producer.MmEmbeddingsCacheProducer,
        parameters=mm_embeddings_cache_producer.Parameters,
    ),
    Entry(
        type_name=disagg_profile_handler.TYPE,
        build=disagg_profile_handler.DisaggProfileHandler,
        parameters=disagg_profile_handler.Parameters,
    ),
    Entry(
        type_name=mm_embeddings_cache_scorer.TYPE,
        build=mm_embeddings_cache_scorer.MmEmbeddingsCacheScorer,
        parameters=mm_embeddings_cache_scorer.Parameters,
    ),
)

# Older names of types above.
ALIASES: Final = {"tokenizer": token_producer.TYPE}

# Types that configurations elsewhere use and that do not exist here yet.
UNBUILT: Final = frozenset(
    {
        "agent-identity",
        "burst-prefix-cache-producer",
        "by-label",
        "by-label-selector",
        "concurrency-detector",
        "context-length-aware",
        "data-parallel-profile-handler",
        "dcgm-data-source",
        "dcgm-extractor",
        "destination-endpoint-served-verifier",
        "disagg-headers-handler",
        "disaggregatedset-rollout-screener",
        "edf-ordering-policy",
        "endpoint-attribute-filter",
        "endpoint-attribute-scorer",
        "header-based-testing-filter",
        "header-label-affinity-scorer",
        "header-profile-handler",
        "k8s-notification-source",
        "label-selector-filter",
        "latency-scorer",
        "latency-slo-admitter",
        "lora-affinity-scorer",
        "models-data-extractor",
        "models-data-source",
        "multicluster-approx-prefix-cache-producer",
        "multicluster-file-discovery",
        "multicluster-kv-cache-utilization-scorer",
        "multicluster-metrics-data-source",
        "multicluster-metrics-extractor",
        "multicluster-prefix-cache-scorer",
        "multicluster-queue-scorer",
        "multicluster-session-affinity-filter",
        "no-hit-lru-scorer",
        "p2p-source-producer",
        "pd-profile-handler",
        "precise-prefix-cache-producer",
        "precise-prefix-cache-scorer",
        "predicted-latency-producer",
        "prefill-header-handler",
        "priority-holdback-policy",
        "priority-then-time-eviction-order-policy",
        "probabilistic-admitter",
        "program-aware-fairness",
        "request-attribute-reporter",
        "round-robin-fairness-policy",
        "session-affinity-filter",
        "session-affinity-scorer",
        "session-id-producer",
        "sheddable-eviction-filter",
        "slo-deadline-ordering-policy",
        "slo-headroom-tier-filter",
        "soft-reflective-ceiling-policy",
        "topology-affinity-filter",
        "topology-affinity-scorer",
        "topology-extractor",
        "utilization-filter",
    }
)
