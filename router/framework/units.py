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


_LONGEST = 64  # characters; what is longer is no number that anyone means, and not one to repeat in an error
_LONGEST_NANOSECONDS = 2**63 - 1  # 292 years, as far as Go counts


def parse_duration(text: str) -> float:
    """Seconds of a Go duration string. Raises ValueError."""
    if text in {"0", "+0", "-0"}:
        return 0.0
    if len(text) > _LONGEST or not _DURATION.fullmatch(text):
        raise ValueError(f"{_brief(text)} is not {DURATION_FORM}")
    nanoseconds = sum(Fraction(number) * _NANOSECONDS[unit] for number, unit in _PART.findall(text))
    if nanoseconds > _LONGEST_NANOSECONDS:
        raise ValueError(f"{_brief(text)} is longer than 292 years; give {DURATION_FORM}")
    return float(nanoseconds / 10**9) * (-1 if text.startswith("-") else 1)


def parse_quantity(value: str | int) -> int:
    """The whole number a Kubernetes quantity stands for, rounded up. Raises ValueError."""
    if not isinstance(value, str):
        return value
    match = _QUANTITY.fullmatch(value) if len(value) <= _LONGEST else None
    if match is None:
        raise ValueError(f"{_brief(value)} is not {QUANTITY_FORM}")
    number, suffix, exponent = match.groups()
    scale = Fraction(10) ** int(exponent) if exponent else _SCALE.get(suffix, Fraction(1))
    return math.ceil(Fraction(number) * scale)


def _brief(text: str) -> str:
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
