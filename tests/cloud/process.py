"""A test cloud in a process of its own, for tests whose other processes (Airflow's) must live on when it does not."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cloud.client import CloudClient

_CHECKOUT = Path(__file__).parents[2]
_TIMEOUT_S = 180


@dataclass(frozen=True)
class CloudProcess:
    """`about` is what the process printed: endpoint, mode, environment, landscape."""

    process: "subprocess.Popen[str]"
    about: dict[str, Any]

    @property
    def control(self) -> CloudClient:
        """Return the cloud's controls."""
        return CloudClient(self.about["endpoint"])

    def end(self) -> int:
        """End the process as its user does; returns the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(_TIMEOUT_S)


@contextmanager
def cloud_process(*options: str) -> Iterator[CloudProcess]:
    """Provide a running `python -m tests.cloud` with those options, until the end of the block."""
    argv = [sys.executable, "-m", "tests.cloud", *options]
    with subprocess.Popen(argv, cwd=_CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(
                    f"the test cloud did not start: exit code {process.wait(_TIMEOUT_S)}, see its messages"
                )
            cloud = CloudProcess(process, json.loads(line))
            yield cloud
            if process.poll() is None:
                cloud.end()
        finally:
            process.kill()
