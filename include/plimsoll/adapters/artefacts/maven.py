"""Jars of a Maven repository: the lock files beside this module, and a locked set as a folder of the cache, downloaded.

A lock file names coordinates and checksums but never a host, because each machine has its own registries. jgo's
resolver downloads in pure Python, without Maven or the user's cache.
"""

import hashlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from tenacity import retry, retry_if_exception_type, retry_if_not_exception_type, stop_after_attempt, wait_incrementing

from plimsoll.adapters.artefacts.cache import Cache, faulty, sha256
from plimsoll.adapters.artefacts.web import MAVEN, is_refused, require_authorities, untrusted
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import ArtefactError, UntrustedServer
from plimsoll.domain.text.wording import plural

if TYPE_CHECKING:
    from jgo.maven import Artifact, MavenContext

FOLDER = Path(__file__).parent / "locks"
"""The folder of the lock files."""
_TIMEOUT_S = 30
_AT_ONCE = 4
# A test library: its scope gets lost where a managed version overrides another POM's own dependency.
_NEVER_NEEDED = ("org.mockito:mockito-core",)
_RUN_TIME_SCOPES = (None, "", "compile", "runtime")
_MB = 1_000_000

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class LockedJar(Model):
    """One file of a Maven repository."""

    coordinates: Annotated[str, Field(pattern=r"^[^:/]+:[^:/]+:[^:/]+(:[^:/]+)?$", description="group:name:version")]
    sha256: Sha256
    size_bytes: int
    packaging: Annotated[str, Field(pattern=r"^[a-z]+(\.[a-z]+)?$", description="The file's kind, and its ending")] = (
        "jar"
    )

    @property
    def name(self) -> str:
        """Return the file's name: `guava-27.0-jre.jar`."""
        return f"{'-'.join(self.coordinates.split(':')[1:])}.{self.packaging}"


class LockedSet(Model):
    """All jars that one program needs at run time, as they were resolved once."""

    name: Annotated[str, Field(description="`cassandra-4.0.1`, `load-generator`, `ecj`")]
    roots: Annotated[tuple[str, ...], Field(description="Coordinates that it was resolved from")]
    jars: tuple[LockedJar, ...]

    @property
    def size_bytes(self) -> int:
        """Return the size of all files together, bytes."""
        return sum(jar.size_bytes for jar in self.jars)

    @property
    def checksums(self) -> dict[str, str]:
        """Map each file name to its sha256."""
        return {jar.name: jar.sha256 for jar in self.jars}

    @property
    def entry(self) -> str:
        """Return its entry in the cache. A changed lock file gives a new entry, so the old one stays safe."""
        digest = hashlib.sha256("".join(sorted(self.checksums.values())).encode()).hexdigest()
        return f"jars/{self.name}-{digest[:8]}"


@cache
def locked_set(name: str) -> LockedSet | None:
    """Return the set with that name; None where it has no lock file."""
    path = FOLDER / f"{name}.json"
    return LockedSet.model_validate_json(path.read_bytes()) if path.is_file() else None


def database_versions(product: str) -> tuple[str, ...]:
    """Return the releases of a database with lock files, sorted as text."""
    return tuple(sorted(path.stem.removeprefix(f"{product}-") for path in FOLDER.glob(f"{product}-*.json")))


def resolve(name: str, roots: tuple[str, ...], scratch: Path) -> LockedSet:
    """Resolve the roots with all that they need to run, download each file, record checksums. Raises ArtefactError."""
    context = _context(scratch)
    with _explained(name):
        excluded = [context.project(*project.split(":")) for project in _NEVER_NEEDED]
        inputs, others = context.resolver.resolve([context.create_dependency(root, excluded) for root in roots])
        needed = [*inputs, *(other for other in others if other.scope in _RUN_TIME_SCOPES and not other.optional)]
        jars = [_locked(dependency.artifact) for dependency in needed if dependency.type == "jar"]
    return LockedSet(name=name, roots=roots, jars=tuple(sorted(jars, key=lambda jar: jar.coordinates)))


def resolve_archive(name: str, coordinates: str, packaging: str, scratch: Path) -> LockedSet:
    """Download one file alone, such as a release's tarball, and record its checksum. Raises ArtefactError."""
    with _explained(name):
        archive = _locked(_artifact(_context(scratch), coordinates, packaging), packaging)
    return LockedSet(name=name, roots=(coordinates,), jars=(archive,))


def fetch(jars: Iterable[LockedJar], scratch: Path) -> Iterator[tuple[LockedJar, Path]]:
    """Download several jars at once. Yields each one with its file as soon as its checksum was verified.

    The files are below `scratch`; the caller deletes them. Raises ArtefactError for the first jar that can't be had.
    """
    require_authorities("the Maven repository", MAVEN)
    context = _context(scratch)
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        waiting = {pool.submit(_fetch, context, jar): jar for jar in jars}
        for done in as_completed(waiting):
            yield waiting[done], done.result()
    finally:
        pool.shutdown(cancel_futures=True)


@retry(
    retry=retry_if_exception_type(ArtefactError) & retry_if_not_exception_type(UntrustedServer),
    stop=stop_after_attempt(3),
    wait=wait_incrementing(1, 1),
    reraise=True,
)
def _fetch(context: "MavenContext", jar: LockedJar) -> Path:
    """Download a jar. Every error but a refused certificate is retried, including a wrong checksum, because an
    interrupted download looks like one.
    """
    with _explained(jar.coordinates):
        path = _download(_artifact(context, jar.coordinates, jar.packaging))
    if (checksum := sha256(path)) != jar.sha256:
        mend = "try again; if it stays so, the repository or a proxy in between gives out another file"
        what = f"the file's sha256 is {checksum}, the lock says {jar.sha256}"
        raise ArtefactError(what, where=jar.coordinates, mend=mend)
    return path


def _locked(artifact: "Artifact", packaging: str = "jar") -> LockedJar:
    path = _download(artifact)
    parts = [artifact.groupId, artifact.artifactId, artifact.version, artifact.classifier]
    coordinates = ":".join(part for part in parts if part)
    size = path.stat().st_size
    return LockedJar(coordinates=coordinates, sha256=sha256(path), size_bytes=size, packaging=packaging)


def _download(artifact: "Artifact") -> Path:
    path = artifact.cached_path
    assert path is not None, "the context has a cache"
    # jgo asserts that the file is not there, and a failed try leaves a part of it
    path.unlink(missing_ok=True)
    artifact.context.resolver.download(artifact)
    return path


def _artifact(context: "MavenContext", coordinates: str, packaging: str) -> "Artifact":
    group, name, version, *classifier = coordinates.split(":")
    return context.project(group, name).at_version(version).artifact("".join(classifier), packaging)


def _context(scratch: Path) -> "MavenContext":
    from jgo.maven import MavenContext, PythonResolver

    return MavenContext(repo_cache=scratch, local_repos=[], resolver=PythonResolver(), timeout=_TIMEOUT_S)


@contextmanager
def _explained(where: str) -> Iterator[None]:
    """Raise a download's errors in words: jgo raises RuntimeError where the repository lacks the file, and Requests its
    own errors where the machine is offline.
    """
    import requests

    try:
        yield
    except requests.RequestException as error:
        if is_refused(error):
            raise untrusted(where, MAVEN, error) from error
        mend = "check the network and HTTPS_PROXY, then run it again: what was fetched is kept"
        raise ArtefactError(f"the Maven repository can't be reached: {error}", where=where, mend=mend) from error
    except RuntimeError as error:
        mend = "check that these coordinates exist; a repository that is overloaded answers like that for a while too"
        raise ArtefactError(f"the Maven repository does not give it: {error}", where=where, mend=mend) from error


def jar_folder(cache: Cache, locked: LockedSet, *, thorough: bool = False) -> Path:
    """Return the folder with every jar of the set, verified. Downloads what is not. Raises ArtefactError."""
    folder = cache.root / locked.entry
    if faulty(folder, locked.checksums, thorough=thorough):
        with cache.alone(locked.entry), cache.unfinished(locked.entry) as scratch:
            _fill(cache, locked, folder, scratch)
    return folder


def _fill(cache: Cache, locked: LockedSet, folder: Path, scratch: Path) -> None:
    """Download the jars. Each is renamed into place, so that an interrupted download keeps the completed ones."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = faulty(folder, locked.checksums)
    wanted = [jar for jar in locked.jars if jar.name in missing]
    if not wanted:
        return
    cache.log(f"fetching {locked.name}: {_amount(wanted)}")
    for count, (jar, path) in enumerate(fetch(wanted, scratch), start=1):
        path.replace(folder / jar.name)
        if count % 20 == 0:
            cache.log(f"  {count} of {len(wanted)} jars are there")
    # Notes the new files as verified, so that the next look reads no content
    faulty(folder, locked.checksums)
    cache.log(f"{locked.name} is ready: {_amount(locked.jars)}")


def _amount(jars: list[LockedJar] | tuple[LockedJar, ...]) -> str:
    size = sum(jar.size_bytes for jar in jars)
    return f"{plural(len(jars), 'jar')}, {size / _MB:.0f} MB"
