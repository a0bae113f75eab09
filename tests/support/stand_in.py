"""Stands in for Python where the local runner starts programs: `-m router.engine` and `-m simulator` as small servers.

Run as a script, so that tests of the runner need neither the engine nor the simulator. It answers every GET with 200 and
speaks no gRPC; what it was started with is the answer to `/started`. A model named `crash` ends at once, `deaf` never listens.
"""

import json
import os
import signal
import socketserver
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ENGINE_PORTS = (8081, 9002, 9090)


class Handler(BaseHTTPRequestHandler):
    """Answers everything."""

    def do_GET(self) -> None:
        content = json.dumps({"argv": sys.argv[1:], "env": dict(os.environ)}) if self.path == "/started" else "{}"
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content.encode())

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Requests are not logged."""


def flag(name: str) -> str:
    return next(word.partition("=")[2] for word in sys.argv if word.startswith(f"{name}="))


def serve(host: str, port: int) -> socketserver.BaseServer:
    server = ThreadingHTTPServer((host, port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main() -> None:
    """Listen where the real program would, until SIGTERM."""
    if "crash" in sys.argv:
        sys.exit("this model crashes at once")
    if "deaf" not in sys.argv:
        engine = "router.engine" in sys.argv
        host = flag("--bind-address" if engine else "--host")
        for port in ENGINE_PORTS if engine else (8000,):
            serve(host, port)
    sys.stdout.write("listening\n")
    sys.stdout.flush()
    signal.sigwait({signal.SIGTERM})


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    main()
