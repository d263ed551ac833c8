"""`python -m tests.cloud [--mode …]`: a test cloud as a process. Prints one line of JSON, lives until its input ends.

The line has `endpoint`, `mode`, `environment` (variables for AWS clients) and `landscape`.
"""

import argparse
import json
import signal
import sys
from pathlib import Path

from tests.cloud.cloud import aws_environment, running_cloud
from tests.cloud.lag import Lag
from tests.cloud.lifecycle import Delays


def main() -> None:
    """Until standard input ends, or SIGTERM."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    delays = Delays(options.pending, options.status, options.shutting_down)
    lag = Lag.of(options.lag, options.page)
    with running_cloud(
        options.mode, delays=delays, manual=options.manual, lag=lag, share=options.share, port=options.port
    ) as cloud:
        about = {
            "endpoint": cloud.endpoint,
            "mode": cloud.mode,
            "environment": aws_environment(cloud.endpoint),
            "landscape": cloud.landscape.plain(),
        }
        print(json.dumps(about), flush=True)
        sys.stdin.read()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.cloud", description=__doc__)
    parser.add_argument("--mode", choices=["real", "namespaces", "loopback", "instant"], default="real")
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--pending", type=float, default=0.5, help="seconds until an instance runs")
    parser.add_argument("--status", type=float, default=0.5, help="seconds until its status checks may pass")
    parser.add_argument("--shutting-down", type=float, default=0.5, help="seconds until it is terminated")
    parser.add_argument("--lag", type=float, default=0.0, help="seconds by which EC2's answers are behind")
    parser.add_argument("--page", type=int, default=1000, help="instances that one page shows")
    parser.add_argument("--manual", action="store_true", help="time stands still but for POST /_cloud/skip")
    parser.add_argument(
        "--share", type=Path, action="append", default=[], help="a folder that all hosts see, read-only"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
