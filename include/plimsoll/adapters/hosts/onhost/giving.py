"""Starts a program with secrets that stand in no file and in no argument. They come as JSON by standard input: `env`,
the variables that the program gets; `files`, variable → the content of a file in memory that the variable names, which
only this user may read and which ends with the program. Imports nothing of its own:

    python3 -c SOURCE PROGRAM ARGUMENT…
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Mapping, MutableMapping

_NOT_FOUND = 127


def give(given: Mapping[str, Mapping[str, str]], environment: MutableMapping[str, str]) -> None:
    """Add the variables, and make the files that they name."""
    for name, content in given["files"].items():
        file = os.memfd_create(name, 0)  # inherited by the program, whose process this one becomes
        os.fchmod(file, 0o600)
        with open(file, "wb", closefd=False) as whole:
            whole.write(content.encode())
        # By the process and not as `self`: its child processes open it too, which may have closed what they inherited.
        environment[name] = f"/proc/{os.getpid()}/fd/{file}"
    environment.update(given["env"])


def become(argv: list[str]) -> None:
    """Become that program, without input, and without a core after a crash. Returns only where there is none."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - that is what it is for
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")


if __name__ == "__main__":
    give(json.load(sys.stdin), os.environ)
    become(sys.argv[1:])
    sys.exit(_NOT_FOUND)
