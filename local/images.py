"""What a container runs on this machine: its image and command as a command line of programs that are here.

Envoy is the real `envoy`; the router's image (ours or the reference engine's) is our engine; `vllm serve` is the simulator
with the same arguments. An image that is none of these is refused by name.
"""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.errors import LocalError

ROOT = Path(__file__).resolve().parent.parent
ENGINE_IMAGES = ("mmserve-router", "llm-d-router-endpoint-picker")
ENGINE_CONTAINER = "epp"  # an image of the operator's own is known by the container it is put into
ENVOY_IMAGES = ("envoy",)
MODEL_SERVER_IMAGES = ("vllm-openai", "vllm-openai-cpu", "vllm", "vllm-tpu", "llm-d-cuda")
DEFAULT_PROFILE = "qwen3-vl-32b-h200-tp2"
ENVOY_WORKERS = 2  # threads a laptop spares for Envoy; a manifest asks for what a server has
DRAIN_SECONDS = 1  # when everything stops, nobody else takes the traffic, so waiting longer only delays the prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """Where the programs of this machine are; `envoy` is None where it is not installed."""

    python: str
    envoy: str | None

    @classmethod
    def find(cls) -> "Programs":
        """Envoy from the folder of this Python, else from PATH."""
        beside = Path(sys.executable).parent / "envoy"
        return cls(python=sys.executable, envoy=str(beside) if os.access(beside, os.X_OK) else shutil.which("envoy"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """How the programs are played: the simulator's timing profile."""

    sim_profile: str = DEFAULT_PROFILE


def kind_of(container: Mapping[str, Any]) -> str:
    """`envoy`, `engine`, `model-server` or `shell`: by the command where one is given, else by the image's name."""
    command = list(container.get("command") or [])
    words = [*command, *(container.get("args") or [])]
    image = container.get("image", "").partition("@")[0].rsplit("/", 1)[-1].partition(":")[0]
    program = command[0].rsplit("/", 1)[-1] if command else ""
    if program == "envoy" or (not command and image in ENVOY_IMAGES):
        return "envoy"
    if "router.engine" in command or (not command and (image in ENGINE_IMAGES or container["name"] == ENGINE_CONTAINER)):
        return "engine"
    if program == "vllm" and "serve" in words[:2]:
        return "model-server"
    if not command and image in MODEL_SERVER_IMAGES:
        return "model-server"
    raise LocalError(
        f"container {container['name']}: image {container.get('image')!r} with command {command or 'of its own'}"
        " is not yet played on this machine (Envoy, the router and `vllm serve` are)"
    )


def command_line(container: Mapping[str, Any], args: Sequence[str], address: str, programs: Programs, play: Play) -> list[str]:
    """The command line for `container`, whose arguments after its command are `args` with addresses and paths already local.

    What the program would take from its surroundings in a pod of its own is added: the interface it listens on, threads.
    Raises LocalError when a program is missing.
    """
    kind = kind_of(container)
    if kind == "envoy":
        return [_envoy(programs), *_with_workers(args), "--disable-hot-restart"]  # no state is shared between two stacks
    if kind == "engine":
        return [programs.python, "-m", "router.engine", *args, *_engine(args, address)]
    return [programs.python, "-m", "simulator", *_model_server(args, address, play)]


def _envoy(programs: Programs) -> str:
    if programs.envoy is None:
        raise LocalError("Envoy is not installed; run `make setup`, which brings it")
    return programs.envoy


def _engine(args: Sequence[str], address: str) -> list[str]:
    return [*_unless_given(args, "--bind-address", address), *_unless_given(args, "--drain-timeout", f"{DRAIN_SECONDS}s")]


def _model_server(args: Sequence[str], address: str, play: Play) -> list[str]:
    words = list(args) if "serve" in args[:1] else ["serve", *args]
    words += _unless_given(args, "--host", address)
    words += _unless_given(args, "--sim-profile", play.sim_profile)
    return [*words, *_unless_given(args, "--sim-media", "fetch")]


def _with_workers(args: Sequence[str]) -> list[str]:
    changed = list(args)
    for position, arg in enumerate(changed):
        if arg == "--concurrency" and changed[position + 1].isdigit():
            changed[position + 1] = str(min(int(changed[position + 1]), ENVOY_WORKERS))
        elif arg.startswith("--concurrency="):
            changed[position] = f"--concurrency={min(int(arg.partition('=')[2]), ENVOY_WORKERS)}"
    given = any(arg.partition("=")[0] in ("--concurrency", "--cpuset-threads") for arg in changed)
    return changed if given else [*changed, "--concurrency", str(ENVOY_WORKERS)]


def _unless_given(args: Sequence[str], flag: str, value: str) -> list[str]:
    given = any(arg == flag or arg.startswith(f"{flag}=") for arg in args)
    return [] if given else [f"{flag}={value}"]
