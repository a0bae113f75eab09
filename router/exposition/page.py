"""Reads single samples out of a Prometheus text page.

A page of a model server is tens of kilobytes of which a handful of lines matter, many times a second. The page is therefore searched
for the wanted names instead of being parsed: one pass of `bytes.find` a name.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from router.framework.errors import ConfigError

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_SELECTOR = re.compile(rf"\s*({_NAME})\s*(?:\{{(.*)\}})?\s*")
_SELECTOR_LABEL = re.compile(r'\s*([a-zA-Z_]\w*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^",{}\s]+))\s*(?:,|$)')
_SAMPLE = re.compile(rb'[ \t]*(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?[ \t]*([^\s{]+)(?:[ \t]+(-?[0-9.eE+]+))?')
_LABEL = re.compile(rb'([a-zA-Z_]\w*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)
_AFTER_NAME = frozenset((b" ", b"\t", b"{"))


@dataclass(frozen=True, slots=True)
class Selector:
    """A sample's name and the labels it must carry."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    needle: bytes = field(init=False, repr=False)  # the name at the start of a line

    def __post_init__(self) -> None:
        object.__setattr__(self, "needle", b"\n" + self.name.encode())

    def __str__(self) -> str:
        inside = ",".join(f'{name}="{value}"' for name, value in self.labels.items())
        return f"{self.name}{{{inside}}}" if inside else self.name


@dataclass(frozen=True, slots=True)
class Sample:
    """One line of a page. Values are text: what a number may be is the reader's affair."""

    value: str
    timestamp: float | None
    labels: Mapping[str, str]


def parse_selector(text: str) -> Selector:
    """`name` or `name{label=value,…}`, quotes optional. Raises ConfigError."""
    match = _SELECTOR.fullmatch(text)
    if match is None:
        raise ConfigError(f"{text!r} is not a metric: write name or name{{label=value,…}}")
    labels: dict[str, str] = {}
    rest = (match[2] or "").strip()
    while rest:
        label = _SELECTOR_LABEL.match(rest)
        if label is None:
            raise ConfigError(f"{text!r} is not a metric: {rest!r} is not label=value")
        labels[label[1]] = label[3] if label[2] is None else _plain(label[2].encode())
        rest = rest[label.end() :]
    return Selector(match[1], labels)


def samples(page: bytes, selector: Selector) -> Iterator[Sample]:
    """Samples that match, in page order; lines that are not samples are passed over."""
    needle = selector.needle
    end = len(needle) - 1 if page.startswith(needle[1:]) else _after(page, needle, 0)
    while end >= 0:
        if page[end : end + 1] in _AFTER_NAME:
            sample = _sample(page, end, selector.labels)
            if sample is not None:
                yield sample
        end = _after(page, needle, end)


def latest(page: bytes, selector: Selector) -> Sample | None:
    """The matching sample with the largest explicit timestamp, the first of equals; None: there is none."""
    best: Sample | None = None
    for sample in samples(page, selector):
        if best is None or _age_rank(sample) > _age_rank(best):
            best = sample
    return best


def _age_rank(sample: Sample) -> float:
    return float("-inf") if sample.timestamp is None else sample.timestamp


def _after(page: bytes, needle: bytes, start: int) -> int:
    """Where the next line goes on that starts with the needle's name, or -1."""
    found = page.find(needle, start)
    return found + len(needle) if found >= 0 else -1


def _sample(page: bytes, position: int, wanted: Mapping[str, str]) -> Sample | None:
    match = _SAMPLE.match(page, position)
    if match is None:
        return None
    labels = {name.decode(): _plain(value) for name, value in _LABEL.findall(match[1])} if match[1] else {}
    if any(labels.get(name) != value for name, value in wanted.items()):
        return None
    return Sample(match[2].decode(errors="replace"), _number(match[3]), labels)


def _number(text: bytes | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


def _plain(text: bytes) -> str:
    """A label value without its escapes."""
    plain = _ESCAPE.sub(lambda match: b"\n" if match[1] == b"n" else match[1], text) if b"\\" in text else text
    return plain.decode(errors="replace")
