"""Timing models: named sets of constants, all in seconds, tokens and bytes.

The H200 figures were measured on 2026-11-30 with the architecture of Qwen3-VL-32B (bf16, SDPA); the two-GPU profile halves prefill
and decode and adds 0.6 ms of communication to a decode step. Prefill of two GPUs agrees with the published 15,751 tokens a second.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Constants of one accelerator set-up."""

    prefill_per_token: float = 0.0
    prefill_quadratic: float = 0.0  # per token squared
    encode_base: float = 0.0
    encode_per_token: float = 0.0
    encode_quadratic: float = 0.0  # per visual token of one item squared
    decode_base: float = 0.0
    decode_per_cached_token: float = 0.0
    decode_per_seq: float = 0.0  # no measured profile needs it
    step_base: float = 0.0
    media_fetch_latency: float = 0.0  # URL items only
    kv_latency: float = 0.0
    kv_bandwidth: float = 0.0  # bytes a second; 0: unlimited
    ec_latency: float = 0.0
    ec_bandwidth: float = 0.0

    def encode_seconds(self, items: Sequence[int]) -> float:
        """One encoder call over items of so many visual tokens each; no items, no time."""
        if not items:
            return 0.0
        return max(self.encode_base, sum(n * self.encode_per_token + self.encode_quadratic * n * n for n in items))

    def prefill_seconds(self, tokens: int, context: int) -> float:
        """A chunk of `tokens` after `context` tokens that are computed or cached."""
        return tokens * self.prefill_per_token + self.prefill_quadratic * tokens * (2 * context + tokens)

    def floor_seconds(self, decoding: int, cached_tokens: int) -> float:
        """What a step costs at least, with `decoding` sequences that hold `cached_tokens` together."""
        decode = self.decode_base + cached_tokens * self.decode_per_cached_token + decoding * self.decode_per_seq
        return max(self.step_base, decode if decoding else 0.0)


H200_TP1 = Profile(
    prefill_per_token=129e-6,
    prefill_quadratic=1.55e-9,
    encode_base=17e-3,
    encode_per_token=14.5e-6,
    encode_quadratic=6.0e-9,
    decode_base=19.7e-3,
    decode_per_cached_token=0.06e-6,
    step_base=19.7e-3,
    media_fetch_latency=20e-3,
    kv_latency=3e-3,
    kv_bandwidth=20e9,
    ec_latency=3e-3,
    ec_bandwidth=10e9,
)
H200_TP2 = Profile(
    prefill_per_token=64.5e-6,
    prefill_quadratic=0.78e-9,
    encode_base=17e-3,
    encode_per_token=14.5e-6,
    encode_quadratic=6.0e-9,
    decode_base=10.5e-3,
    decode_per_cached_token=0.031e-6,
    step_base=10.5e-3,
    media_fetch_latency=20e-3,
    kv_latency=3e-3,
    kv_bandwidth=20e9,
    ec_latency=3e-3,
    ec_bandwidth=10e9,
)

PROFILES = {"qwen3-vl-32b-h200-tp2": H200_TP2, "qwen3-vl-32b-h200-tp1": H200_TP1, "fast": Profile()}
