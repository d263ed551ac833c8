"""Download wheels of the Python package index through pip, so that the user's own index and proxy settings apply."""

import os
import sys
from pathlib import Path

from plimsoll.adapters.artefacts.certificates import PIP, is_refused, require_authorities, untrusted
from plimsoll.adapters.artefacts.processes import run
from plimsoll.domain.errors import ArtefactError

_TIMEOUT_S = 900
_OPTIONS = ("--no-deps", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check", "--quiet")
_BOUNDS = ("--timeout", "30", "--retries", "3", "--progress-bar", "off")


def unpack(requirement: str, sha256: str, folder: Path, scratch: Path) -> None:
    """Download a wheel, verify its checksum and unpack it into the folder. Raises ArtefactError."""
    requirements = scratch / "requirements.txt"
    requirements.write_text(f"{requirement} --hash=sha256:{sha256}\n", encoding="utf-8")
    _pip(
        requirement,
        scratch,
        "install",
        "--require-hashes",
        "--no-compile",
        "--target",
        str(folder),
        "-r",
        str(requirements),
    )


def download(requirement: str, scratch: Path) -> Path:
    """Download a wheel without verifying its checksum, for making lock files. Raises ArtefactError."""
    _pip(requirement, scratch, "download", "--dest", str(scratch), requirement)
    return next(scratch.glob("*.whl"))


def _pip(what: str, scratch: Path, command: str, *arguments: str) -> None:
    require_authorities(what, PIP)
    argv = [sys.executable, "-m", "pip", command, *_OPTIONS, *_BOUNDS, *arguments]
    # pip's own temporary files go where those of an interrupted run are removed.
    ended = run(argv, timeout_s=_TIMEOUT_S, env={**os.environ, "TMPDIR": str(scratch)})
    if ended.exit_code != 0 and is_refused(ended.output):
        raise untrusted(what, PIP, ended.output)
    if ended.exit_code != 0:
        raise ArtefactError(
            f"pip could not fetch it: {ended.output}",
            where=what,
            mend="check the network, the proxy and pip's configuration (`pip config list`), then run it again",
        )
