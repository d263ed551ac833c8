"""Commands of another user of this machine."""

import os
import subprocess

from tests.support.suite.requirements import leave_out

STRANGER = 65534
"""The user `nobody`, who owns nothing and starts nothing else."""


def as_stranger(*argv: str) -> subprocess.CompletedProcess[str]:
    """Run a command as another user, in `/`. Leaves out the test where this user is not root, who alone can do that."""
    if os.geteuid() != 0:
        leave_out("only root can run something as another user")
    become = ("setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups")
    return subprocess.run([*become, *argv], cwd="/", capture_output=True, text=True, timeout=60, check=False)
