"""Reads queue length, running requests, cache usage, adapters and cache size from a model server's metrics page.

The pod label `engineLabelKey` says which server it is and so which metrics to read; five servers are known without configuration.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from router.exposition.page import parse_selector
from router.exposition.servers import BUILT_IN, EngineConfig, UnreadableError, number, readers
from router.framework.attributes.key import DataKey
from router.framework.collecting import Extractor
from router.framework.endpoint import LiveEndpoint
from router.framework.errors import ConfigError
from router.framework.parameters import nearest
from router.framework.plugin import Handle

TYPE = "core-metrics-extractor"
ENGINE_LABEL = "llm-d.ai/engine-type"
LEGACY_ENGINE_LABEL = "inference.networking.k8s.io/engine-type"
RESERVED_ENGINE = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """`parameters:` of this plugin."""

    engine_label_key: str = ENGINE_LABEL
    default_engine: str = "vllm"
    engine_configs: tuple[EngineConfig, ...] = ()  # beside the built-in ones; the same name replaces one

    def __post_init__(self) -> None:
        names = [engine.name for engine in self.engine_configs]
        for name in names:
            if not name or name == RESERVED_ENGINE or names.count(name) > 1:
                raise ConfigError(f'engine name "{name}" is empty, given twice, or the reserved "{RESERVED_ENGINE}"', field="engineConfigs")
        known = {engine.name for engine in (*BUILT_IN, *self.engine_configs)}
        if self.default_engine not in known:
            raise ConfigError(
                f'engine "{self.default_engine}" is unknown{nearest(self.default_engine, sorted(known))}', field="defaultEngine"
            )


class CoreMetricsExtractor(Extractor):
    """Updates `endpoint.metrics`; a field that a page does not bring keeps its value."""

    def __init__(self, name: str, parameters: Parameters, handle: Handle) -> None:
        super().__init__(name)
        self._clock = handle.clock
        self._label = parameters.engine_label_key
        engines = {engine.name: engine for engine in (*BUILT_IN, *parameters.engine_configs)}
        lora_required = handle.compat.reference
        self._readers = {engine.name: readers(engine, lora_required=lora_required) for engine in engines.values()}
        self._custom = {
            engine.name: tuple((DataKey(m.attribute_key, name, float), parse_selector(m.metric_spec)) for m in engine.custom_metrics)
            for engine in engines.values()
        }
        self._default_engine = parameters.default_engine

    def produces(self) -> frozenset[DataKey[Any]]:
        """The attributes of custom metrics."""
        return frozenset(key for custom in self._custom.values() for key, _ in custom)

    def extract(self, body: bytes, endpoint: LiveEndpoint) -> tuple[str, ...]:
        """Read one page."""
        engine = self._engine(endpoint.metadata.labels)
        fields: dict[str, Any] = {}
        errors: list[str] = []
        for read in self._readers[engine]:
            try:
                fields.update(read(body))
            except UnreadableError as error:
                errors.append(str(error))
        for key, selector in self._custom[engine]:
            try:
                endpoint.attributes[key] = number(body, selector)
            except UnreadableError as error:
                errors.append(str(error))
        if fields:
            endpoint.metrics = dataclasses.replace(endpoint.metrics, updated_at=self._clock(), **fields)
        return tuple(errors)

    def _engine(self, labels: Mapping[str, str]) -> str:
        name = labels.get(self._label) or labels.get(LEGACY_ENGINE_LABEL, "")
        return name if name in self._readers else self._default_engine
