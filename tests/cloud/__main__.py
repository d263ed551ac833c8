"""`python -m tests.cloud [--mode …]`: a test cloud as a process. Prints one line of JSON, lives until its input ends.

The line has `endpoint`, `environment` (variables for AWS clients) and `landscape`.
"""

import argparse
import json
import signal
import sys

from tests.cloud.cloud import aws_environment, running_cloud


def main() -> None:
    """Run until standard input ends, or SIGTERM comes."""
    parser = argparse.ArgumentParser(prog="python -m tests.cloud", description=__doc__)
    parser.add_argument("--mode", choices=["namespaces", "instant"], default="namespaces")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with running_cloud(parser.parse_args().mode) as cloud:
        about = {
            "endpoint": cloud.endpoint,
            "environment": aws_environment(cloud.endpoint),
            "landscape": cloud.landscape.plain(),
        }
        print(json.dumps(about), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
