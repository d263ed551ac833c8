"""A connection whose host is a shell of this machine: what a host would be told runs, without an sshd."""

import io
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

from plimsoll.adapters.providers.ssh.execution import Answer, Feed


class ShellConnection:
    """Stands for `Connection` where no files are asked for. `home` is the user's."""

    def __init__(self, home: Path) -> None:
        self.home, self.target = home, SimpleNamespace(place="this machine")
        self.delivered: set[PurePosixPath] = set()
        self.folders: dict[PurePosixPath, PurePosixPath] = {}
        self.delivering, self.reaches_store = threading.RLock(), True

    def execute(self, command: str, *, timeout_s: float, feed: Feed | None = None, repeating_s: float = 0) -> Answer:
        """Run the command line with the input that `feed` writes."""
        given = io.BytesIO()
        if feed is not None:
            write: Callable[[bytes], int] = given.write
            feed(SimpleNamespace(write=write))  # type: ignore[arg-type]
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.home)}
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            input=given.getvalue(),
            env=environment,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def execute_once(self, command: str, *, timeout_s: float, feed: Feed | None = None) -> Answer:
        """Run the command line."""
        return self.execute(command, timeout_s=timeout_s, feed=feed)


def over_a_shell(home: Path) -> Any:
    """Return the connection, as anything that wants one."""
    return ShellConnection(home)
