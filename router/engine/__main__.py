"""`python -m router.engine`: flags, logs, then the engine. Exit code 2 for a command line that cannot be used, 1 for other faults."""

import os
import sys
from collections.abc import Mapping, Sequence

import uvloop

from router.engine.app import Engine
from router.engine.options import HelpRequestedError, UsageError, parse, verbosity
from router.framework.errors import ConfigError
from router.telemetry.logs import configure

USAGE_EXIT, FAULT_EXIT = 2, 1


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run the engine to its end; returns the exit code."""
    try:
        options = parse(arguments, environ)
        configure(verbosity(options), options.zap_encoder)
        uvloop.run(Engine(options, environ).run())
    except HelpRequestedError as asked:
        sys.stdout.write(f"{asked}\n")
    except ConfigError as error:
        sys.stderr.write(f"router.engine: {error}\n")
        return USAGE_EXIT if isinstance(error, UsageError) else FAULT_EXIT
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
