"""The catalogue of plugin types: what a configuration document may name.

A new plugin is a file in its family's folder, a row here and a test beside it.
"""

from typing import Final

from router.framework.plugin import Entry, Stability
from router.plugins.admitters import probabilistic_admitter
from router.plugins.deciders import always_disagg_multimodal_decider, always_disagg_pd_decider, prefix_based_pd_decider
from router.plugins.discovery import file_discovery
from router.plugins.extractors import core_metrics_extractor, models_data_extractor, topology_extractor
from router.plugins.fairness import global_strict_fairness_policy
from router.plugins.filters import (
    by_label,
    decode_filter,
    encode_filter,
    endpoint_attribute_filter,
    header_based_testing_filter,
    label_selector_filter,
    prefill_filter,
    prefix_cache_affinity_filter,
    session_affinity_filter,
    topology_affinity_filter,
    utilization_filter,
)
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
from router.plugins.pre_request import disagg_headers_handler, prefill_header_handler
from router.plugins.producers import (
    approx_prefix_cache_producer,
    inflight_load_producer,
    mm_embeddings_cache_producer,
    session_id_producer,
    token_producer,
)
from router.plugins.profile_handlers import (
    data_parallel_profile_handler,
    disagg_profile_handler,
    pd_profile_handler,
    single_profile_handler,
)
from router.plugins.response import destination_endpoint_served_verifier, request_attribute_reporter
from router.plugins.saturation import concurrency_detector, utilization_detector
from router.plugins.scorers import (
    active_request_scorer,
    context_length_aware,
    endpoint_attribute_scorer,
    kv_cache_utilization_scorer,
    load_aware_scorer,
    lora_affinity_scorer,
    mm_embeddings_cache_scorer,
    no_hit_lru_scorer,
    prefix_cache_scorer,
    queue_scorer,
    running_requests_size_scorer,
    session_affinity_scorer,
    token_load_scorer,
    topology_affinity_scorer,
)
from router.plugins.sources import endpoint_notification_source, metrics_data_source, models_data_source
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
    Entry(
        type_name=session_affinity_scorer.TYPE,
        build=session_affinity_scorer.SessionAffinityScorer,
        parameters=session_affinity_scorer.Parameters,
        stability=Stability.ALPHA,
    ),
    Entry(
        type_name=session_affinity_filter.TYPE,
        build=session_affinity_filter.SessionAffinityFilter,
        parameters=session_affinity_filter.Parameters,
        stability=Stability.ALPHA,
    ),
    Entry(type_name=session_id_producer.TYPE, build=session_id_producer.SessionIdProducer, parameters=session_id_producer.Parameters),
    Entry(
        type_name=label_selector_filter.TYPE, build=label_selector_filter.LabelSelectorFilter, parameters=label_selector_filter.Parameters
    ),
    Entry(
        type_name=by_label.TYPE,
        build=by_label.ByLabel,
        parameters=by_label.Parameters,
        stability=Stability.DEPRECATED,
        replaced_by="label-selector-filter",
    ),
    Entry(
        type_name="by-label-selector",
        build=label_selector_filter.LabelSelectorFilter,
        parameters=label_selector_filter.Parameters,
        stability=Stability.DEPRECATED,
        replaced_by="label-selector-filter",
    ),
    Entry(type_name=header_based_testing_filter.TYPE, build=header_based_testing_filter.HeaderBasedTestingFilter),
    Entry(type_name=lora_affinity_scorer.TYPE, build=lora_affinity_scorer.LoraAffinityScorer),
    Entry(type_name=no_hit_lru_scorer.TYPE, build=no_hit_lru_scorer.NoHitLruScorer, parameters=no_hit_lru_scorer.Parameters),
    Entry(type_name=context_length_aware.TYPE, build=context_length_aware.ContextLengthAware, parameters=context_length_aware.Parameters),
    Entry(type_name=concurrency_detector.TYPE, build=concurrency_detector.ConcurrencyDetector, parameters=concurrency_detector.Parameters),
    Entry(
        type_name=probabilistic_admitter.TYPE,
        build=probabilistic_admitter.ProbabilisticAdmitter,
        parameters=probabilistic_admitter.Parameters,
    ),
    Entry(type_name=models_data_source.TYPE, build=models_data_source.ModelsDataSource, parameters=models_data_source.Parameters),
    Entry(type_name=models_data_extractor.TYPE, build=models_data_extractor.ModelsDataExtractor),
    Entry(
        type_name=topology_extractor.TYPE,
        build=topology_extractor.TopologyExtractor,
        parameters=topology_extractor.Parameters,
        stability=Stability.ALPHA,
    ),
    Entry(
        type_name=topology_affinity_filter.TYPE,
        build=topology_affinity_filter.TopologyAffinityFilter,
        parameters=topology_affinity_filter.Parameters,
        stability=Stability.ALPHA,
    ),
    Entry(
        type_name=topology_affinity_scorer.TYPE,
        build=topology_affinity_scorer.TopologyAffinityScorer,
        parameters=topology_affinity_scorer.Parameters,
        stability=Stability.ALPHA,
    ),
    Entry(
        type_name=endpoint_attribute_filter.TYPE,
        build=endpoint_attribute_filter.EndpointAttributeFilter,
        parameters=endpoint_attribute_filter.Parameters,
        stability=Stability.ALPHA,
    ),
    Entry(
        type_name=endpoint_attribute_scorer.TYPE,
        build=endpoint_attribute_scorer.EndpointAttributeScorer,
        parameters=endpoint_attribute_scorer.Parameters,
        stability=Stability.ALPHA,
    ),
    Entry(
        type_name=utilization_filter.TYPE,
        build=utilization_filter.UtilizationFilter,
        parameters=utilization_filter.Parameters,
        stability=Stability.ALPHA,
    ),
    Entry(
        type_name=data_parallel_profile_handler.TYPE,
        build=data_parallel_profile_handler.DataParallelProfileHandler,
        parameters=data_parallel_profile_handler.Parameters,
    ),
    Entry(
        type_name=pd_profile_handler.TYPE,
        build=pd_profile_handler.PdProfileHandler,
        parameters=pd_profile_handler.Parameters,
        stability=Stability.DEPRECATED,
        replaced_by="disagg-profile-handler",
    ),
    Entry(
        type_name=disagg_headers_handler.TYPE,
        build=disagg_headers_handler.DisaggHeadersHandler,
        parameters=disagg_headers_handler.Parameters,
        stability=Stability.DEPRECATED,
        replaced_by="disagg-profile-handler",
    ),
    Entry(
        type_name=prefill_header_handler.TYPE,
        build=prefill_header_handler.PrefillHeaderHandler,
        parameters=prefill_header_handler.Parameters,
        stability=Stability.DEPRECATED,
        replaced_by="disagg-profile-handler",
    ),
    Entry(
        type_name=destination_endpoint_served_verifier.TYPE, build=destination_endpoint_served_verifier.DestinationEndpointServedVerifier
    ),
    Entry(
        type_name=request_attribute_reporter.TYPE,
        build=request_attribute_reporter.RequestAttributeReporter,
        parameters=request_attribute_reporter.Parameters,
    ),
)

# Older names of types above.
ALIASES: Final = {"tokenizer": token_producer.TYPE}

# Types that configurations elsewhere use and that do not exist here yet.
UNBUILT: Final = frozenset(
    {
        "agent-identity",
        "burst-prefix-cache-producer",
        "dcgm-data-source",
        "dcgm-extractor",
        "disaggregatedset-rollout-screener",
        "edf-ordering-policy",
        "header-label-affinity-scorer",
        "header-profile-handler",
        "k8s-notification-source",
        "latency-scorer",
        "latency-slo-admitter",
        "multicluster-approx-prefix-cache-producer",
        "multicluster-file-discovery",
        "multicluster-kv-cache-utilization-scorer",
        "multicluster-metrics-data-source",
        "multicluster-metrics-extractor",
        "multicluster-prefix-cache-scorer",
        "multicluster-queue-scorer",
        "multicluster-session-affinity-filter",
        "p2p-source-producer",
        "precise-prefix-cache-producer",
        "precise-prefix-cache-scorer",
        "predicted-latency-producer",
        "priority-holdback-policy",
        "priority-then-time-eviction-order-policy",
        "program-aware-fairness",
        "round-robin-fairness-policy",
        "sheddable-eviction-filter",
        "slo-deadline-ordering-policy",
        "slo-headroom-tier-filter",
        "soft-reflective-ceiling-policy",
    }
)
