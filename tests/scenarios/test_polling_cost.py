"""What it costs to know how endpoints are. Processor time is compared, never the clock's."""

import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from router.engine.datalayer.pace import POLLS_PER_SECOND
from tests.support.engine_process import EngineProcess, engine, write_configuration
from tests.support.sources import ROOT

PAGE_BYTES = 63 * 1024
CORE_SHARE = 0.3  # at the most polls a second that the pace allows
POLLS = 2000


class ModelServers:
    """Many of them in one process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.ports: list[int] = json.loads(self._line())

    def served(self, pages: int) -> int:
        """Pages served so far, once there are so many."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{pages}\n")
        self._process.stdin.flush()
        return int(self._line())

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


@contextmanager
def model_servers(count: int) -> Generator[ModelServers]:
    command = [sys.executable, "-m", "tests.support.metrics_pages", str(count), str(PAGE_BYTES)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield ModelServers(process)
    finally:
        process.kill()
        process.communicate()


def processor_seconds(running: EngineProcess) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{running.ports['metrics']}/metrics") as answer:
        found = re.search(r"^process_cpu_seconds_total (\S+)", answer.read().decode(), re.MULTILINE)
    assert found is not None
    return float(found[1])


def test_field_p42_polling_a_hundred_endpoints_takes_less_than_a_third_of_a_core(tmp_path: Path) -> None:
    with model_servers(100) as servers:
        configuration = write_configuration(tmp_path, {f"p{i}": port for i, port in enumerate(servers.ports)})
        with engine("--pool-name=p", f"--config-file={configuration}", "--secure-serving=false", "--drain-timeout=0s") as running:
            begin = servers.served(200)  # everyone was polled, start-up is over
            spent = processor_seconds(running)
            polls = servers.served(begin + POLLS) - begin
            spent = processor_seconds(running) - spent

    assert spent / polls * POLLS_PER_SECOND < CORE_SHARE
