"""The guard, which ends a stack whose launcher died before it could do so, for example by `kill -9`.

The guard is a process of its own. It waits at a pipe that the kernel closes when the launcher ends for any reason.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from plimsoll_airflow.local.home import Home
from plimsoll_airflow.local.process_environment import HOME_TAG

_DISMISSED = b"."
_DISMISS_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Guard:
    """The guard of one home, as its launcher sees it."""

    process: "subprocess.Popen[bytes]"

    @classmethod
    def start(cls, home: Home, environment: Mapping[str, str]) -> "Guard":
        """Start the guard: from now on the stack ends with this. `environment` is that of the stack's processes."""
        # Without the tag, for the guard is no part of the stack and must not be ended with it.
        untagged = {name: value for name, value in environment.items() if name != HOME_TAG}
        with (home.run / "guard.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(home.path)],
                env=untagged,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                # Neither Ctrl-C nor a closed terminal may end the guard together with its launcher
                start_new_session=True,
            )
        return cls(process)

    def dismiss(self) -> None:
        """End the guard, because the stack has ended or is to stay."""
        with suppress(subprocess.TimeoutExpired):
            self.process.communicate(_DISMISSED, timeout=_DISMISS_TIMEOUT_S)
        self.process.kill()
        self.process.wait()


def main() -> None:
    """Wait for the launcher's end, then end the stack, unless the guard was dismissed or another launcher does it."""
    if not sys.stdin.buffer.read():
        home = Home(Path(sys.argv[1]))
        # Imported only now: hardly any guard gets here, and each starts beside a stack that wants the processors.
        from plimsoll_airflow.local.home import StackBusy
        from plimsoll_airflow.local.launcher import CLEANING_UP, launcher_lock
        from plimsoll_airflow.local.shutdown import destroy_clusters, stop_stack

        with suppress(StackBusy), launcher_lock(home, CLEANING_UP):
            stop_stack(home, lambda: destroy_clusters({**os.environ, HOME_TAG: str(home.path)}))


if __name__ == "__main__":
    main()
