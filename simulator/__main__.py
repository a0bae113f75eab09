"""`python -m simulator serve MODEL [flags]`: a model server without an accelerator."""

import asyncio
import signal
import sys
from collections.abc import Sequence

import uvloop

from simulator.app import Server
from simulator.errors import OptionsError
from simulator.options import Options, parse, warn


async def serve(options: Options) -> None:
    """Run until SIGTERM or SIGINT."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    server = Server(options)
    try:
        await server.open()
        print(f"simulator: {options.names[0]} on {server.url}", file=sys.stderr, flush=True)  # noqa: T201 - the program's own stderr
        await stop.wait()
    finally:
        await server.close()


def main(arguments: Sequence[str]) -> int:
    """Exit code: 0 after a signal, 1 when the port cannot be opened, 2 for a bad flag."""
    try:
        options = parse(arguments)
    except OptionsError as error:
        print(f"simulator: {error}", file=sys.stderr)  # noqa: T201 - the program's own stderr
        return 2
    warn(options)
    try:
        uvloop.run(serve(options))
    except OSError as error:
        print(f"simulator: cannot listen on {options.host}:{options.port}: {error.strerror or error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
