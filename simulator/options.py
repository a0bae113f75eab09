"""The command line: vLLM's flags as manifests pass them, and `--sim-…` flags of the simulation."""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from simulator.errors import OptionsError
from simulator.profiles import PROFILES, Profile

DEFAULT_PROFILE = "qwen3-vl-32b-h200-tp2"
RUNTIME = (  # fields that may change while the server runs
    "time_scale", "profile", "jitter", "output", "output_tokens", "media", "media_tokens", "default_image_size", "max_waiting",
    "error_format",
)  # fmt: skip
START_ONLY = ("startup-delay", "max-body-mb", "response-headers", "faults", "allow-request-faults", "strict-flags", "config")
OUTPUTS = ("lorem", "echo", "describe", "fixed:<text>")
EXAMPLE = "example: python -m simulator serve Qwen/Qwen3-VL-32B-Instruct --port 8000 --sim-profile fast"

# Flags of vLLM that change nothing here; the second group takes no value.
IGNORED_WITH_VALUE = (
    "tensor-parallel-size", "pipeline-parallel-size", "gpu-memory-utilization", "dtype", "quantization", "compilation-config",
    "mm-encoder-tp-mode", "uvicorn-log-level", "chat-template", "reasoning-parser", "tool-call-parser", "generation-config",
    "load-format", "disable-access-log-for-endpoints", "download-dir", "revision", "scheduling-policy",
)  # fmt: skip
IGNORED_SWITCHES = (
    "enforce-eager", "trust-remote-code", "async-scheduling", "disable-log-requests", "enable-auto-tool-choice",
    "no-disable-hybrid-kv-cache-manager",
)  # fmt: skip
NOT_YET = (
    "ec-transfer-config",
    "kv-transfer-config",
    "kv-events-config",
    "mm-encoder-only",
    "enable-lora",
    "lora-modules",
    "data-parallel-size",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the server runs with; defaults are vLLM's where it has the flag."""

    model: str
    host: str = "0.0.0.0"  # noqa: S104 - vLLM's default; the local runner gives each pod its own address
    port: int = 8000
    served_model_names: tuple[str, ...] = ()
    max_model_len: int = 32_768
    max_num_seqs: int = 256
    max_num_batched_tokens: int = 8_192
    block_size: int = 16
    num_gpu_blocks: int = 20_000
    enable_prefix_caching: bool = True
    mm_processor_cache_gb: float = 4.0
    limit_mm_per_prompt: Mapping[str, int] = field(default_factory=dict[str, int])
    mm_processor_kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    allowed_media_domains: tuple[str, ...] = ()
    enable_prompt_tokens_details: bool = True
    api_key: str = ""
    ssl_certfile: str = ""
    ssl_keyfile: str = ""
    seed: int = 0
    hash_seed: str = ""
    pod_name: str = ""
    pod_namespace: str = ""
    shutdown_timeout: float = 0.0  # seconds running requests may go on after a signal
    time_scale: float = 1.0
    profile: Profile = field(default_factory=Profile)
    jitter: float = 0.0
    output: str = "lorem"
    output_tokens: tuple[int, int] = (64, 64)
    media: str = "infer"
    media_tokens: tuple[str, float] = ("rule", 0.0)  # how images are priced: rule, fixed (tokens) or factor (pixels a token)
    default_image_size: tuple[int, int] = (1280, 720)
    startup_delay: float = 0.0
    max_waiting: int | None = None
    faults: tuple[Mapping[str, Any], ...] = ()
    request_faults: bool = False
    max_body_mb: int = 0  # 0: no limit
    response_headers: bool = False
    error_format: str = "openai"
    warnings: tuple[str, ...] = ()
    words: tuple[str, ...] = ()  # the command line itself; changes at run time are added to it

    @property
    def names(self) -> tuple[str, ...]:
        """Names accepted in `model`; the first one labels the metrics."""
        return self.served_model_names or (self.model,)


class _Parser(argparse.ArgumentParser):
    """Raises instead of leaving the process, so that embedding and tests see the error."""

    def error(self, message: str) -> NoReturn:
        raise OptionsError(message)


def parse(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> Options:
    """Options of `[serve] MODEL [flags]`. Raises OptionsError."""
    environment = os.environ if environment is None else environment
    words = [word for i, word in enumerate(arguments) if not (i == 0 and word == "serve")]
    _refuse_not_yet(words)
    parser = _parser()
    values, unknown = parser.parse_known_args(words)
    if values.sim_config:
        values, unknown = parser.parse_known_args([*_config_words(values.sim_config), *words])
    if unknown and values.sim_strict_flags:
        raise OptionsError(f"unknown flag {unknown[0]}; see --help")
    model = values.model or values.model_flag
    if not model:
        raise OptionsError("no model given: the first argument, or --model")
    options = Options(
        model=model,
        host=values.host,
        port=_between("--port", values.port, 0, 65_535),
        served_model_names=tuple(values.served_model_name),
        max_model_len=_between("--max-model-len", values.max_model_len, 1, 10_000_000),
        max_num_seqs=_between("--max-num-seqs", values.max_num_seqs, 1, 65_536),
        max_num_batched_tokens=_between("--max-num-batched-tokens", values.max_num_batched_tokens, 1, 10_000_000),
        block_size=_between("--block-size", values.block_size, 1, 1_024),
        num_gpu_blocks=_between("--num-gpu-blocks-override", values.num_gpu_blocks_override, 1, 100_000_000),
        enable_prefix_caching=values.enable_prefix_caching,
        mm_processor_cache_gb=values.mm_processor_cache_gb,
        limit_mm_per_prompt=_json_object("--limit-mm-per-prompt", values.limit_mm_per_prompt),
        mm_processor_kwargs=_json_object("--mm-processor-kwargs", values.mm_processor_kwargs),
        allowed_media_domains=tuple(values.allowed_media_domains),
        enable_prompt_tokens_details=values.enable_prompt_tokens_details,
        api_key=values.api_key or environment.get("VLLM_API_KEY", ""),
        ssl_certfile=values.ssl_certfile,
        ssl_keyfile=values.ssl_keyfile,
        seed=values.seed,
        hash_seed=environment.get("PYTHONHASHSEED", ""),
        pod_name=environment.get("POD_NAME", ""),
        pod_namespace=environment.get("POD_NAMESPACE", ""),
        shutdown_timeout=values.shutdown_timeout,
        words=tuple(arguments),
        warnings=tuple(f"flag {word} is not known and has no effect" for word in unknown if word.startswith("-")),
    )
    return _with_simulation(options, values)


def _with_simulation(options: Options, values: argparse.Namespace) -> Options:
    """The `--sim-…` half."""
    if values.sim_profile not in PROFILES:
        raise OptionsError(f"--sim-profile: {values.sim_profile!r} is none of {', '.join(sorted(PROFILES))}")
    if values.sim_output not in OUTPUTS[:3] and not values.sim_output.startswith("fixed:"):
        raise OptionsError(f"--sim-output: {values.sim_output!r} is none of {', '.join(OUTPUTS)}")
    overrides = {
        "step_base": values.sim_step_base,
        "prefill_per_token": values.sim_prefill_per_token,
        "decode_base": values.sim_decode_base,
        "decode_per_cached_token": values.sim_decode_per_cached_token,
        "decode_per_seq": values.sim_decode_per_seq,
        "encode_per_token": values.sim_encode_per_token,
        "encode_base": values.sim_encode_base,
        "media_fetch_latency": values.sim_media_fetch_latency,
    }
    profile = replace(PROFILES[values.sim_profile], **{name: value for name, value in overrides.items() if value is not None})
    return replace(
        options,
        time_scale=values.sim_time_scale,
        profile=profile,
        jitter=values.sim_jitter,
        output=values.sim_output,
        output_tokens=_range("--sim-output-tokens", values.sim_output_tokens),
        media=values.sim_media,
        media_tokens=_media_tokens(values.sim_media_tokens),
        default_image_size=_size("--sim-default-image-size", values.sim_default_image_size),
        startup_delay=values.sim_startup_delay,
        max_waiting=values.sim_max_waiting,
        faults=_fault_list(values.sim_faults),
        request_faults=values.sim_allow_request_faults,
        max_body_mb=values.sim_max_body_mb,
        response_headers=values.sim_response_headers,
        error_format=values.sim_error_format,
    )


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m simulator serve", description=__doc__, epilog=EXAMPLE, allow_abbrev=False)
    parser.add_argument("model", nargs="?", default="", help="model id, as `vllm serve MODEL`")
    vllm = parser.add_argument_group("flags of vLLM with an effect")
    vllm.add_argument("--model", dest="model_flag", default="", help="the same as a flag")
    vllm.add_argument("--host", default="0.0.0.0")  # noqa: S104 - vLLM's default
    vllm.add_argument("--served-model-name", nargs="+", default=[])
    for flag, default in (
        ("--port", 8000), ("--max-model-len", 32_768), ("--max-num-seqs", 256), ("--max-num-batched-tokens", 8_192),
        ("--block-size", 16), ("--num-gpu-blocks-override", 20_000), ("--seed", 0),
    ):  # fmt: skip
        vllm.add_argument(flag, type=int, default=default)
    vllm.add_argument("--enable-prefix-caching", action=argparse.BooleanOptionalAction, default=True)
    vllm.add_argument("--enable-prompt-tokens-details", action=argparse.BooleanOptionalAction, default=True)
    vllm.add_argument("--mm-processor-cache-gb", type=float, default=4.0)
    vllm.add_argument("--shutdown-timeout", type=float, default=0.0, help="seconds running requests go on after SIGTERM")
    vllm.add_argument("--limit-mm-per-prompt", default="")
    vllm.add_argument("--mm-processor-kwargs", default="")
    vllm.add_argument("--allowed-media-domains", nargs="+", default=[])
    for flag in ("--api-key", "--ssl-certfile", "--ssl-keyfile"):
        vllm.add_argument(flag, default="")
    _add_simulation_flags(parser)
    ignored = parser.add_argument_group("flags of vLLM without an effect here")
    for name in IGNORED_WITH_VALUE:
        ignored.add_argument(f"--{name}", default=None)
    for name in IGNORED_SWITCHES:
        ignored.add_argument(f"--{name}", action="store_true")
    return parser


def _add_simulation_flags(parser: argparse.ArgumentParser) -> None:
    sim = parser.add_argument_group("simulation")
    sim.add_argument("--sim-profile", default=DEFAULT_PROFILE, help=f"timings: {', '.join(sorted(PROFILES))}")
    sim.add_argument("--sim-time-scale", type=float, default=1.0, help="multiplies every simulated duration; 0: no waiting")
    sim.add_argument("--sim-jitter", type=float, default=0.0, help="relative standard deviation of a step, cut at 70 %%")
    sim.add_argument("--sim-output", default="lorem", help=f"text of answers: {', '.join(OUTPUTS)}")
    sim.add_argument("--sim-output-tokens", default="64", help="tokens of an answer that nothing limits: N or MIN:MAX")
    sim.add_argument("--sim-media", choices=("infer", "fetch"), default="infer", help="whether media URLs are fetched")
    sim.add_argument("--sim-media-tokens", default="rule", help="price of an image: rule, fixed:TOKENS or factor:PIXELS_PER_TOKEN")
    sim.add_argument("--sim-max-body-mb", type=int, default=0, help="larger bodies get 413; 0: no limit")
    sim.add_argument("--sim-response-headers", action="store_true", help="x-inference-pod, -port and -namespace on every answer")
    sim.add_argument("--sim-error-format", choices=("openai", "flat"), default="openai", help="shape of error bodies")
    sim.add_argument("--sim-config", default="", help="YAML file with these flags without `--sim-`; the command line wins")
    sim.add_argument("--sim-default-image-size", default="1280x720")
    sim.add_argument("--sim-startup-delay", type=float, default=0.0, help="seconds before the port opens")
    sim.add_argument("--sim-max-waiting", type=int, default=None, help="queue length above which 503 is answered")
    sim.add_argument("--sim-faults", default="", help="JSON list of faults active from the start")
    sim.add_argument("--sim-allow-request-faults", action="store_true", help="obey the header x-sim-fault")
    sim.add_argument("--sim-strict-flags", action="store_true", help="an unknown flag is an error, not a warning")
    for name in (
        "step-base", "prefill-per-token", "decode-base", "decode-per-cached-token", "decode-per-seq", "encode-per-token", "encode-base",
        "media-fetch-latency",
    ):  # fmt: skip
        sim.add_argument(f"--sim-{name}", type=float, default=None, help="seconds; overrides the profile")


def changed(options: Options, document: Mapping[str, Any]) -> Options:
    """`options` with simulation settings of `document` (flag names without `--sim-`) replaced. Raises OptionsError."""
    for key in document:
        if key.replace("_", "-") in START_ONLY:
            raise OptionsError(f"{key}: can be set at the start only")
    words = [*options.words, *_setting_words(document)]
    made = parse([*words, "--sim-strict-flags"], {})
    return replace(options, words=tuple(words), **{name: getattr(made, name) for name in RUNTIME})


def _config_words(path: str) -> list[str]:
    import yaml

    try:
        document = yaml.safe_load(Path(path).read_text(encoding="utf-8")) or {}
    except (OSError, yaml.YAMLError) as error:
        raise OptionsError(f"--sim-config: {path!r} cannot be read: {error}") from error
    if not isinstance(document, dict):
        raise OptionsError(f"--sim-config: {path!r} is not a mapping of settings")
    return _setting_words(document)


def _setting_words(document: Mapping[str, Any]) -> list[str]:
    """Settings as flags; a name no flag has is refused."""
    parser = _parser()
    words: list[str] = []
    for key, value in document.items():
        flag = f"--sim-{str(key).replace('_', '-')}"
        if isinstance(value, bool):
            made = [flag] if value else []
        else:
            made = [f"{flag}={json.dumps(value) if isinstance(value, list | dict) else value}"]
        if parser.parse_known_args(["model", *made])[1]:
            raise OptionsError(f"setting {key!r} is not known; allowed are the --sim-… flags without their prefix")
        words += made
    return words


def _media_tokens(text: str) -> tuple[str, float]:
    kind, _, number = text.partition(":")
    if text == "rule":
        return "rule", 0.0
    if kind not in ("fixed", "factor") or not number.isdigit() or int(number) < 1:
        raise OptionsError(f"--sim-media-tokens: {text!r} is none of rule, fixed:TOKENS, factor:PIXELS_PER_TOKEN")
    return kind, float(number)


def _refuse_not_yet(words: Sequence[str]) -> None:
    for word in words:
        name = word.split("=", 1)[0].removeprefix("--")
        if word.startswith("--") and name in NOT_YET:
            raise OptionsError(f"--{name}: not yet; this simulator plays aggregated servers only")


def _between(flag: str, value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise OptionsError(f"{flag}: {value} is not between {low} and {high}")
    return value


def _json_object(flag: str, text: str) -> Mapping[str, Any]:
    if not text:
        return {}
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise OptionsError(f"{flag}: {text!r} is not a JSON object")
    return value


def _fault_list(text: str) -> tuple[Mapping[str, Any], ...]:
    try:
        value = json.loads(text) if text else []
    except ValueError:
        value = None
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise OptionsError(f"--sim-faults: {text!r} is not a JSON list of objects")
    return tuple(value)


def _range(flag: str, text: str) -> tuple[int, int]:
    low, _, high = text.partition(":")
    try:
        bounds = int(low), int(high or low)
    except ValueError:
        bounds = (0, 0)
    if not 1 <= bounds[0] <= bounds[1]:
        raise OptionsError(f"{flag}: {text!r} is not N or MIN:MAX with 1 <= MIN <= MAX")
    return bounds


def _size(flag: str, text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit() and int(width) and int(height)):
        raise OptionsError(f"{flag}: {text!r} is not WIDTHxHEIGHT")
    return int(width), int(height)


def warn(options: Options) -> None:
    """Print one line for each flag without effect."""
    for text in options.warnings:
        print(f"simulator: {text}", file=sys.stderr)  # noqa: T201 - the program's own stderr
