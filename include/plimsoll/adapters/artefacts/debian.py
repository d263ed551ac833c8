"""Java runtimes that no other registry has: packages of Debian's unstable distribution, unpacked without root.

`apt-get` downloads them from the mirror in this machine's own configuration and verifies them by the signed index. The
pool keeps only the newest build, so no lock file can name one; each fingerprint records which build ran. The C library
that a runtime was built for is included, and its loader starts the runtime, so that older systems can run it.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from plimsoll.adapters.artefacts.web import plain_environment, run
from plimsoll.domain.text.errors import ArtefactError

PACKAGES: Mapping[str, str] = {"openjdk-8": "openjdk-8-jre-headless"}
"""JDK's id in definitions → Debian package."""

_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_LIBRARIES = ("libc6", "libgcc-s1", "libstdc++6", "zlib1g")
_TIMEOUT_S = 900
_MEND = "check the network and `apt-get update`, then run it again; or name an archive in the variant's `jvm`"
_START = """#!/bin/sh
home=$(dirname "$(dirname "$(readlink -f "$0")")")
exec "$home/jre/bin/ld.so" --library-path "$home/libraries" "$home/jre/bin/java" "$@"
"""


def can_be_fetched(jdk_id: str) -> bool:
    """Tell whether Debian has such a package, and this machine can download it because it runs Debian."""
    programs = all(shutil.which(program) for program in ("apt-get", "dpkg-deb"))
    return jdk_id in PACKAGES and programs and _KEYRING.is_file()


def unpack(jdk_id: str, folder: Path, scratch: Path) -> None:
    """Download the newest build and arrange it in the folder: `bin/java`, `jre`, `libraries`. Raises ArtefactError."""
    packages, root = scratch / "packages", scratch / "root"
    packages.mkdir()
    options = list(_options(scratch, _mirror()))
    _run(["apt-get", "--quiet", *options, "update"], packages)
    _run(["apt-get", "--quiet", *options, "download", PACKAGES[jdk_id], *_LIBRARIES], packages)
    for package in packages.glob("*.deb"):
        _run(["dpkg-deb", "-x", str(package), str(root)], packages)
    _lay_out(jdk_id, root, folder)


def _mirror() -> str:
    command = ["apt-get", "indextargets", "--format", "$(ORIGIN) $(RELEASE) $(REPO_URI)", "Identifier: Packages"]
    for line in run(command, timeout_s=60, env=plain_environment()).output.splitlines():
        origin, _, rest = line.partition(" ")
        release, _, uri = rest.partition(" ")
        # `bookworm-security` comes from a mirror of its own, which has no unstable distribution
        if origin == "Debian" and "-" not in release:
            return uri
    raise ArtefactError("apt knows no mirror of Debian here", where="apt-get indextargets", mend=_MEND)


def _options(scratch: Path, mirror: str) -> Iterator[str]:
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
        raise ArtefactError("the package holds no runtime", where=PACKAGES[jdk_id], mend=_MEND)
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
        source = path
        if path.is_symlink():
            target = path.readlink()
            source = root / target.relative_to("/") if target.is_absolute() else path
        if source.is_file():
            copy = folder / path.relative_to(home)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)


def _run(argv: Sequence[str], folder: Path) -> None:
    ended = run(argv, timeout_s=_TIMEOUT_S, env=plain_environment(), cwd=folder)
    if ended.exit_code != 0:
        raise ArtefactError(f"`{argv[0]}` failed: {ended.output[-1000:]}", where="Debian's packages", mend=_MEND)
