"""Small programs for the recorder, so that one component can be looked at by itself."""

from collections.abc import Callable, Mapping
from pathlib import Path

from local.record import Recording, evaluate

HEADER = '''"""A program of a test."""
import pulumi
import pulumi_kubernetes as k8s
provider = k8s.Provider("cluster")
inside = pulumi.ResourceOptions(providers={"kubernetes": provider})
'''


def program(folder: Path) -> Callable[..., Recording]:
    """Evaluates lines of a program; `provider` and `inside` (options of a component) are there already."""

    def run(body: str, config: Mapping[str, object] | None = None, secrets: Mapping[str, str] | None = None) -> Recording:
        file = folder / "program.py"
        file.write_text(HEADER + body, encoding="utf-8")
        return evaluate(config or {}, stack="test", secrets=secrets or {}, program=file)

    return run
