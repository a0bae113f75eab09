"""Durations and quantities as configuration documents and flags write them."""

import math
import re
from fractions import Fraction

_DURATION = re.compile(
    r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h)(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))*", re.ASCII
)
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_NANOSECONDS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}

_QUANTITY = re.compile(r"([-+]?(?:\d+(?:\.\d*)?|\.\d+))(?:([numkMGTPE]|[KMGTPE]i)|[eE]([-+]?\d{1,2}))?", re.ASCII)
_SCALE = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    **{suffix: Fraction(1000**power) for power, suffix in enumerate("kMGTPE", 1)},
    **{f"{suffix}i": Fraction(1024**power) for power, suffix in enumerate("KMGTPE", 1)},
}

DURATION_FORM = 'a duration such as "200ms", "60s" or "1m30s"'
QUANTITY_FORM = 'a quantity such as 1000, "1G" (10^9) or "1Gi" (2^30)'


def parse_duration(text: str) -> float:
    """Seconds of a Go duration string. Raises ValueError."""
    if text in {"0", "+0", "-0"}:
        return 0.0
    if not _DURATION.fullmatch(text):
        raise ValueError(f"{text!r} is not {DURATION_FORM}")
    nanoseconds = sum(Fraction(number) * _NANOSECONDS[unit] for number, unit in _PART.findall(text))
    return float(nanoseconds / 10**9) * (-1 if text.startswith("-") else 1)


def parse_quantity(value: str | int) -> int:
    """The whole number a Kubernetes quantity stands for, rounded up. Raises ValueError."""
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        if isinstance(value, str):
            raise ValueError(f"{value!r} is not {QUANTITY_FORM}")
        return value
    number, suffix, exponent = match.groups()
    scale = Fraction(10) ** int(exponent) if exponent else _SCALE.get(suffix, Fraction(1))
    return math.ceil(Fraction(number) * scale)
