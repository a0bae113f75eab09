"""Who writes which data key and who reads it: missing producers are added, producers are ordered, contradictions are refused."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from router.engine.config.build import Builder
from router.framework.attributes.encoder_match import encoder_match
from router.framework.attributes.key import DataKey
from router.framework.attributes.latency import latency_prediction
from router.framework.attributes.load import inflight_load, uncached_tokens
from router.framework.attributes.prefix_match import prefix_match
from router.framework.attributes.tokenized_prompt import tokenized_prompt
from router.framework.collecting import DataSource, Extractor
from router.framework.control import (
    Admitter,
    DataProducer,
    EndpointListener,
    HeaderProcessor,
    PreRequest,
    ResponseBody,
    ResponseHeaders,
    Screener,
)
from router.framework.errors import ConfigError
from router.framework.flow import FairnessPolicy, OrderingPolicy, SaturationDetector, UsageLimitPolicy
from router.framework.plugin import Plugin
from router.framework.scheduling import Filter, Picker, ProfileHandler, Scorer

Key = DataKey[Any]

_DEFAULT_PRODUCERS: Mapping[str, str] = {
    key.data_type: key.producer
    for key in (tokenized_prompt(), prefix_match(), inflight_load(), uncached_tokens(), latency_prediction(), encoder_match())
}

# What runs first stands first. A plugin reads in the layer of its earliest role; it may write even earlier, as it hears of endpoints.
_LAYERS: tuple[tuple[str, tuple[type[Any], ...]], ...] = (
    ("data layer", (DataSource, Extractor)),
    ("flow control", (SaturationDetector, FairnessPolicy, OrderingPolicy, UsageLimitPolicy)),
    ("request control", (HeaderProcessor, Screener, DataProducer, Admitter)),
    ("scheduling", (Filter, Scorer, Picker, ProfileHandler)),
    ("response", (PreRequest, ResponseHeaders, ResponseBody)),
)


def complete(builder: Builder) -> None:
    """Add default producers for required keys nobody writes, until none is missing. Raises ConfigError for one that cannot be added."""
    while missing := _missing(builder.plugins.values()):
        consumer, key = missing[0]
        default = _DEFAULT_PRODUCERS.get(key.data_type)
        if key.producer in builder.plugins or key.producer != default:
            text = f'needs "{key.text}", which no configured plugin produces'
            raise ConfigError(f"{text}; its default producer is {default}" if default else text, plugin=consumer.name)
        builder.ensure(key.producer)


def check(plugins: Iterable[Plugin]) -> None:
    """Readers and writers of a key agree on its type, and the writer runs first. Raises ConfigError."""
    plugins = list(plugins)
    written = {key.text: (plugin, key) for plugin in plugins for key in plugin.produces()}
    for consumer in plugins:
        consumes = consumer.consumes()
        for key in sorted(consumes.required | consumes.optional):
            if key.text not in written:
                continue
            producer, produced = written[key.text]
            if produced.value_type is not key.value_type:
                reads, writes = key.value_type.__name__, produced.value_type.__name__
                raise ConfigError(f'reads "{key.text}" as {reads}, but "{producer.name}" writes {writes}', plugin=consumer.name)
            reading, writing = _layer(consumer), 0 if isinstance(producer, EndpointListener) else _layer(producer)
            if reading < writing:
                text = f'reads "{key.text}" in {_LAYERS[reading][0]}, before "{producer.name}" writes it in {_LAYERS[writing][0]}'
                raise ConfigError(text, plugin=consumer.name)


def order(producers: Sequence[DataProducer]) -> tuple[DataProducer, ...]:
    """Producers so that every one follows those it reads from, otherwise as given.

    Optional readings count as long as they close no circle. Raises ConfigError for a circle of required ones.
    """
    waiting = list(producers)
    ordered: list[DataProducer] = []
    while waiting:
        ready = _first_ready(waiting, optional=True) or _first_ready(waiting, optional=False)
        if ready is None:
            raise ConfigError(f"producers need each other's data in a circle: {', '.join(producer.name for producer in waiting)}")
        waiting.remove(ready)
        ordered.append(ready)
    return tuple(ordered)


def _first_ready(waiting: Sequence[DataProducer], *, optional: bool) -> DataProducer | None:
    for candidate in waiting:
        consumes = candidate.consumes()
        needed = consumes.required | consumes.optional if optional else consumes.required
        if not any(needed & other.produces() for other in waiting if other is not candidate):
            return candidate
    return None


def _missing(plugins: Iterable[Plugin]) -> list[tuple[Plugin, Key]]:
    plugins = list(plugins)
    written = {key for plugin in plugins for key in plugin.produces()}
    return [(plugin, key) for plugin in plugins for key in sorted(plugin.consumes().required) if key not in written]


def _layer(plugin: Plugin) -> int:
    return next((index for index, (_, roles) in enumerate(_LAYERS) if isinstance(plugin, roles)), len(_LAYERS) - 1)
