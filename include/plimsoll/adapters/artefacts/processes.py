"""Run the programs that make artefacts, with a time limit."""

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from plimsoll.domain.text.errors import ArtefactError

_JAVA_TIMEOUT_S = 120
# These JVMs live for a second or two: optimising their code would take longer than it saves.
_SHORT_LIVED = ("-XX:TieredStopAtLevel=1",)
# What a JVM gets of this process's environment: neither a user's options for every JVM nor a secret. The language is
# for the names of files.
_INHERITED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE")


@dataclass(frozen=True)
class Ended:
    """The exit code of a program, and the text of both its output streams."""

    exit_code: int
    output: str


def plain_environment() -> dict[str, str]:
    """Return the environment of this process, with English as the language of programs."""
    return {**os.environ, "LC_ALL": "C"}


def run(argv: Sequence[str], *, timeout_s: int, env: Mapping[str, str], cwd: Path | None = None) -> Ended:
    """Run a program. Raises ArtefactError where it can't be started or does not end in time."""
    try:
        done = subprocess.run(
            argv,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout_s,
            text=True,
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        what, mend = f"did not end within {timeout_s} s", "see what else this machine does, then run it again"
        raise ArtefactError(what, where=argv[0], mend=mend) from error
    except OSError as error:
        mend = "check that this program is for this machine's processor and system"
        raise ArtefactError(f"can't be run: {error}", where=argv[0], mend=mend) from error
    return Ended(done.returncode, done.stdout.strip())


def run_java(java: Path, *arguments: str, timeout_s: int = _JAVA_TIMEOUT_S) -> Ended:
    """Run a JVM in an empty folder with these arguments and hardly an environment, without the user's own options.

    Raises ArtefactError where it does not end in time.
    """
    env = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    with tempfile.TemporaryDirectory(prefix="plimsoll-java-") as empty:
        return run([str(java.absolute()), *_SHORT_LIVED, *arguments], timeout_s=timeout_s, env=env, cwd=Path(empty))


def ask_java(java: Path, *arguments: str) -> str:
    """Return the output of a JVM. Raises ArtefactError when it fails."""
    ended = run_java(java, *arguments)
    if ended.exit_code != 0:
        raise ArtefactError(
            f"`java {' '.join(arguments)}` ended with exit code {ended.exit_code}: {ended.output}",
            where=str(java),
            mend="check that this runtime is for this machine's processor and system",
        )
    return ended.output
