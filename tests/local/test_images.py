import os
from typing import Any

import pytest

from local.errors import LocalError
from local.images import Play, Programs, command_line, kind_of
from tests.support.manifests import container, engine_container, model_container

ADDRESS = "127.70.1.2"
PROGRAMS = Programs(python="python", envoy="/bin/envoy")

KINDS: dict[str, tuple[dict[str, Any], str]] = {
    "envoy-command": (container("proxy", command=["envoy"]), "envoy"),
    "envoy-image": (container("proxy", image="docker.io/envoyproxy/envoy:distroless-v1.33.2"), "envoy"),
    "own-engine": (container("x", image="ghcr.io/mmserve/mmserve-router:0.1.0"), "engine"),
    "reference-engine": (container("x", image="ghcr.io/llm-d/llm-d-router-endpoint-picker:main"), "engine"),
    "engine-by-digest": (container("x", image=f"registry.example:5000/mmserve-router@sha256:{'0' * 64}"), "engine"),
    "engine-container": (engine_container(image="registry.example/private:1"), "engine"),
    "engine-command": (container("x", command=["python", "-m", "router.engine"]), "engine"),
    "vllm-command": (model_container(), "model-server"),
    "vllm-path": (model_container(command=["/usr/bin/vllm", "serve"]), "model-server"),
    "vllm-image": (container("x", image="docker.io/vllm/vllm-openai:v0.27.1", args=["m"]), "model-server"),
}


@pytest.mark.parametrize(("given", "kind"), KINDS.values(), ids=KINDS)
def test_containers_are_known_by_command_or_image(given: dict[str, Any], kind: str) -> None:
    assert kind_of(given) == kind


def test_an_image_that_cannot_be_played_is_refused_by_name() -> None:
    with pytest.raises(LocalError, match=r"container sgl: image 'example/sgl:1'"):
        kind_of(container("sgl", command=["python3", "-m", "sglang.launch_server"]))


def test_vllm_becomes_the_simulator_with_the_same_arguments() -> None:
    argv = command_line(model_container(), ["tiny/model", "--block-size=32"], ADDRESS, PROGRAMS, Play(sim_profile="fast"))

    assert argv[:3] == ["python", "-m", "simulator"]
    assert argv[3:] == ["serve", "tiny/model", "--block-size=32", f"--host={ADDRESS}", "--sim-profile=fast", "--sim-media=fetch"]


def test_what_the_manifest_says_about_the_simulator_stays() -> None:
    given = ["tiny/model", "--host", "127.1.1.1", "--sim-profile=own", "--sim-media", "infer"]

    assert command_line(model_container(), given, ADDRESS, PROGRAMS, Play())[3:] == ["serve", *given]


def test_the_engine_listens_on_its_pods_address() -> None:
    argv = command_line(engine_container(), ["--pool-name", "p"], ADDRESS, PROGRAMS, Play())

    assert argv == ["python", "-m", "router.engine", "--pool-name", "p", f"--bind-address={ADDRESS}", "--drain-timeout=1s"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--concurrency", "8"], ["--concurrency", "2"]),
        (["--concurrency=8"], ["--concurrency=2"]),
        (["--concurrency", "1"], ["--concurrency", "1"]),
        (["--cpuset-threads"], ["--cpuset-threads"]),
        ([], ["--concurrency", "2"]),
    ],
    ids=["two-words", "one-word", "fewer", "cpuset", "none"],
)
def test_envoy_gets_as_many_threads_as_a_laptop_spares(given: list[str], expected: list[str]) -> None:
    argv = command_line(container("proxy", command=["envoy"]), given, ADDRESS, PROGRAMS, Play())

    assert argv == ["/bin/envoy", *expected, "--disable-hot-restart"]


def test_a_missing_envoy_says_what_to_do() -> None:
    with pytest.raises(LocalError, match="make setup"):
        command_line(container("proxy", command=["envoy"]), [], ADDRESS, Programs(python="python", envoy=None), Play())


def test_envoy_is_found_where_the_set_up_put_it() -> None:
    envoy = Programs.find().envoy

    assert envoy is not None
    assert os.access(envoy, os.X_OK)
