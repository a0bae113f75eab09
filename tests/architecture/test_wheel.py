"""The wheel is what the image installs: the router and nothing else."""

import subprocess
import sys
import zipfile
from pathlib import Path

from router.version import VERSION

ROOT = Path(__file__).parents[2]


def test_the_wheel_holds_the_router_only(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [wheel] = tmp_path.glob("*.whl")
    assert f"-{VERSION}-" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        roots = {name.split("/", 1)[0] for name in archive.namelist()}
    assert roots == {"router", f"mmserve_router-{VERSION}.dist-info"}
