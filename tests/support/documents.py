"""Configuration documents of the engine."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml


def document(plugins: Sequence[Any] = (), profiles: Mapping[str, Sequence[Any]] | None = None, **more: Any) -> str:
    """A document; a plugin or a member of a profile given as a text is a type or a reference."""
    content: dict[str, Any] = {"apiVersion": "llm-d.ai/v1", "kind": "EndpointPickerConfig", **more}
    content["plugins"] = [{"type": plugin} if isinstance(plugin, str) else plugin for plugin in plugins]
    if profiles is not None:
        content["schedulingProfiles"] = [
            {"name": name, "plugins": [{"pluginRef": member} if isinstance(member, str) else member for member in members]}
            for name, members in profiles.items()
        ]
    return yaml.safe_dump(content, sort_keys=False)


# The aggregated topology with the settings of a Qwen3-VL model.
AGGREGATION = """
apiVersion: llm-d.ai/v1
kind: EndpointPickerConfig
plugins:
- type: token-producer
  parameters:
    estimate:
      image:
        mode: dynamic
        defaultResolution: {width: 1280, height: 720}
        dynamic: {factor: 1024}
      video:
        defaultResolution: {width: 1280, height: 720}
        defaultDuration: 10
        maxVideoTokens: 12288
        tokensPerFrame: {mode: dynamic, dynamic: {factor: 1024}}
        frames:
          mode: sampled
          maxFrames: 768
          minFrames: 4
          sampled: {sampleFPS: 2, temporalPatchSize: 2}
- type: approx-prefix-cache-producer
- type: inflight-load-producer
- type: prefix-cache-affinity-filter
  parameters: {peakPrefillThroughput: 15751, affinityThreshold: 0.6, maxTTFTPenaltyMs: 36000}
- type: token-load-scorer
schedulingProfiles:
- name: default
  plugins:
  - pluginRef: prefix-cache-affinity-filter
  - pluginRef: token-load-scorer
"""

# The guide's two disaggregated topologies: media are encoded elsewhere; with E_P_D prompts are computed elsewhere too.
_ESTIMATE = "{image: {mode: dynamic, defaultResolution: {width: 1280, height: 720}, dynamic: {factor: 1024}}}"
_AFFINITY = "{peakPrefillThroughput: 15751, affinityThreshold: 0.6, maxTTFTPenaltyMs: 36000}"

E_PD = f"""
apiVersion: llm-d.ai/v1
kind: EndpointPickerConfig
plugins:
- type: always-disagg-multimodal-decider
- {{type: disagg-profile-handler, parameters: {{deciders: {{encode: always-disagg-multimodal-decider}}}}}}
- type: encode-filter
- type: decode-filter
- {{type: token-producer, parameters: {{estimate: {_ESTIMATE}}}}}
- type: approx-prefix-cache-producer
- type: inflight-load-producer
- {{type: prefix-cache-affinity-filter, parameters: {_AFFINITY}}}
- type: token-load-scorer
- type: queue-scorer
- type: max-score-picker
schedulingProfiles:
- name: encode
  plugins: [{{pluginRef: encode-filter}}, {{pluginRef: queue-scorer, weight: 2}}, {{pluginRef: max-score-picker}}]
- name: decode
  plugins:
  - pluginRef: decode-filter
  - pluginRef: prefix-cache-affinity-filter
  - pluginRef: token-load-scorer
  - pluginRef: max-score-picker
"""

E_P_D = f"""
apiVersion: llm-d.ai/v1alpha1
kind: EndpointPickerConfig
plugins:
- type: always-disagg-multimodal-decider
- type: always-disagg-pd-decider
- type: disagg-profile-handler
  parameters: {{deciders: {{encode: always-disagg-multimodal-decider, prefill: always-disagg-pd-decider}}}}
- type: encode-filter
- type: prefill-filter
- type: decode-filter
- {{type: token-producer, parameters: {{estimate: {_ESTIMATE}}}}}
- type: approx-prefix-cache-producer
- type: inflight-load-producer
- {{type: prefix-cache-affinity-filter, parameters: {_AFFINITY}}}
- type: mm-embeddings-cache-producer
- type: mm-embeddings-cache-scorer
- type: token-load-scorer
- type: active-request-scorer
- type: queue-scorer
- type: max-score-picker
schedulingProfiles:
- name: encode
  plugins:
  - pluginRef: encode-filter
  - {{pluginRef: mm-embeddings-cache-scorer, weight: 4}}
  - {{pluginRef: queue-scorer, weight: 2}}
  - pluginRef: max-score-picker
- name: prefill
  plugins:
  - pluginRef: prefill-filter
  - pluginRef: prefix-cache-affinity-filter
  - pluginRef: token-load-scorer
  - pluginRef: max-score-picker
- name: decode
  plugins: [{{pluginRef: decode-filter}}, {{pluginRef: active-request-scorer}}, {{pluginRef: max-score-picker}}]
"""
