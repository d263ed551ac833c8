"""Local folders on hosts. Each is named after its content, so that it is transferred only once: from here, or from a
campaign's store, to which it is uploaded once for hosts to download.
"""

import hashlib
import json
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from filelock import FileLock, Timeout

from plimsoll.adapters.hosts import onhost
from plimsoll.adapters.hosts.host_files import mend_of
from plimsoll.adapters.hosts.onhost import receiver
from plimsoll.adapters.providers.ssh.connection import Connection
from plimsoll.adapters.providers.ssh.execution import Answer, Feed, program_command, receiver_command
from plimsoll.domain.text.errors import HostError
from plimsoll.domain.text.wording import plural
from plimsoll.ports.artefacts import content_digest
from plimsoll.ports.store import DirectStore

# A transfer that is lost half way goes on where it was, also after many minutes; one that never gets on must end.
_ROUNDS = 4
_TIMEOUT_S, _REPEATING_S = 600.0, 3600.0
_BLOCK = 1 << 16
_EXECUTABLE = 0o100
_NAME = re.compile(r"[^A-Za-z0-9._-]+")

FETCH = timedelta(minutes=10)
"""The time that a host may take to fetch a bundle."""

_LIFETIME = FETCH + timedelta(minutes=5)
_PATIENCE_S = 300.0
# What Python ends with when it can't open what it is to run.
_NO_PROGRAM = 2


@dataclass(frozen=True)
class Bundle:
    """A set of files by their path in the bundle. `checksums` are their sha256."""

    name: str
    files: Mapping[str, Path]
    checksums: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Return the sha256 of all files' paths and checksums, which identifies this content."""
        return content_digest(self.checksums)

    @property
    def folder(self) -> str:
        """Return the folder's name on hosts: `cassandra-4.0.1-1f2e…`."""
        return f"{self.name}-{self.digest[:16]}"


Staged = Callable[[Bundle], str]
"""A URL by which a host gets a bundle's archive, secret and short-lived. StoreError."""


Fetch = Callable[[Bundle, PurePosixPath], None]
"""A function that has the host fetch what it can of a folder's bundle. HostError where no other way could help."""


def bundle_of(folder: Path) -> Bundle:
    """Return a bundle of all files in a folder, except files that Python compiled from sources. Raises OSError."""
    files = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    return make_bundle(_NAME.sub("-", folder.name) or "bundle", files)


def make_bundle(name: str, files: Mapping[str, Path]) -> Bundle:
    """Return a bundle of these files. Raises OSError."""
    return Bundle(name, files, {path: _checksum(file) for path, file in files.items()})


def deliver(
    connection: Connection, bundle: Bundle, below: PurePosixPath, where: str, fetch: Fetch | None = None
) -> PurePosixPath:
    """Return the bundle's folder on the host, with every file verified there. Raises HostError.

    The host fetches missing files itself where it can; files that are still missing are sent. A process verifies a
    bundle only once.
    """
    folder = below / bundle.folder
    with connection.delivering:
        if folder not in connection.delivered:
            _deliver(connection, bundle, folder, where, fetch)
            connection.delivered.add(folder)
    return folder


def write_archive(bundle: Bundle, paths: Iterable[str], stream: IO[bytes]) -> None:
    """Write these files of the bundle as a tar. Raises OSError."""
    # An installer may link files to its cache. Of such a file under two names, tar would send the second as a link.
    with tarfile.open(fileobj=stream, mode="w|", bufsize=_BLOCK, dereference=True) as archive:
        for path in paths:
            archive.add(bundle.files[path].resolve(), path, filter=_plain)


def _deliver(connection: Connection, bundle: Bundle, folder: PurePosixPath, where: str, fetch: Fetch | None) -> None:
    missing = _settle(connection, bundle, folder, where)
    if missing and fetch is not None:
        fetch(bundle, folder)
        missing = _settle(connection, bundle, folder, where)
    for _ in range(_ROUNDS):
        if not missing:
            return
        send(connection, bundle, missing, folder, where)
        missing = _settle(connection, bundle, folder, where)
    what = f"{bundle.name} does not arrive whole: {plural(len(missing), 'file')} not the same after {_ROUNDS} transfers"
    raise HostError(what, where=where, mend="look for a bad disk there or at what changes these files here")


def _settle(connection: Connection, bundle: Bundle, folder: PurePosixPath, where: str) -> Sequence[str]:
    checksums = json.dumps(dict(bundle.checksums)).encode()
    answer = _receiver(connection, "settle", folder, lambda stdin: stdin.write(checksums), where)
    missing: Sequence[str] = answer.parsed(where)
    return missing


def send(connection: Connection, bundle: Bundle, missing: Sequence[str], folder: PurePosixPath, where: str) -> None:
    """Send these files of the bundle to its folder on the host. Raises HostError."""
    _receiver(connection, "receive", folder, cast(Feed, partial(write_archive, bundle, missing)), where)


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return the file's entry without an owner: readable, and executable where the file is executable here."""
    entry.mode = 0o755 if entry.mode & _EXECUTABLE else 0o644
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def _receiver(connection: Connection, command: str, folder: PurePosixPath, feed: Feed, where: str) -> Answer:
    source = Path(receiver.__file__).read_text(encoding="utf-8")
    line = receiver_command(source, command, folder)
    answer = connection.execute(line, timeout_s=_TIMEOUT_S, feed=feed, repeating_s=_REPEATING_S)
    if answer.exit_code != 0:
        reason = answer.stderr.decode(errors="replace").strip()
        raise HostError(f"{folder.name} can't be installed: {reason}", where=where, mend=mend_of(reason, folder))
    return answer


def _checksum(file: Path) -> str:
    state = file.stat()
    return _checksum_of(file, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=4096)
def _checksum_of(file: Path, size: int, mtime_ns: int) -> str:  # noqa: ARG001 - with them a change is noticed
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


class Depot:
    """Archives by campaign and content: `<prefix>/<name>-<sha256>.tar`.

    `locks` is a folder through which the processes of this machine decide which one uploads. Between machines the store
    decides.
    """

    def __init__(self, store: DirectStore, prefix_of: Callable[[str], str], locks: Path) -> None:
        self._store, self._prefix_of, self._locks = store, prefix_of, locks

    def of_campaign(self, campaign_id: str) -> Staged:
        return lambda bundle: self._url(f"{self._prefix_of(campaign_id)}/{bundle.name}-{bundle.digest}.tar", bundle)

    def _url(self, key: str, bundle: Bundle) -> str:
        if not self._store.exists(key):
            try:
                self._stage_alone(key, bundle)
            except OSError as error:
                mend = "free disk space there, or prepare the artefacts again: `make setup`"
                raise HostError(f"{bundle.name} can't be packed: {error}", where="controller", mend=mend) from error
        return self._store.download_url(key, _LIFETIME)

    def _stage_alone(self, key: str, bundle: Bundle) -> None:
        """Stage it under the archive's lock. If another process holds that too long, both do: the store accepts one."""
        self._locks.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._locks / f"bundle-{bundle.digest}.lock")
        with suppress(Timeout):
            lock.acquire(timeout=_PATIENCE_S)
        try:
            # Another process may have staged it while this one waited for the lock
            if not self._store.exists(key):
                with tempfile.TemporaryDirectory(prefix="plimsoll-bundle-") as scratch:
                    archive = Path(scratch) / "bundle.tar"
                    with archive.open("wb") as stream:
                        write_archive(bundle, sorted(bundle.files), stream)
                    self._store.create_from(key, archive)
        finally:
            lock.release()


class Program:
    """The program on one host. `bundles` is the folder to copy it to, `where` names the host in errors."""

    def __init__(
        self, connection: Connection, bundles: PurePosixPath, where: str, tags: Mapping[str, str] | None = None
    ) -> None:
        self._connection, self._bundles, self._where, self._tags = connection, bundles, where, tags or {}

    def call(self, command: str, *, timeout_s: float, **request: Any) -> Any:
        """Return the answer to a request that may be repeated. Raises HostError with the host's error message."""
        answer = self._ask(command, timeout_s, request)
        if answer.exit_code == _NO_PROGRAM:  # someone has removed it since it was brought there
            self._connection.delivered.clear()
            answer = self._ask(command, timeout_s, request)
        if answer.exit_code != 0:
            reason = answer.stderr.decode(errors="replace").strip()
            raise HostError(f"{command}: {reason}", where=self._where, mend=mend_of(reason, self._bundles))
        return answer.parsed(self._where)

    def _ask(self, command: str, timeout_s: float, request: Mapping[str, Any]) -> Answer:
        program = deliver(self._connection, program_bundle(), self._bundles, self._where)
        line, content = program_command(program, command, self._tags), json.dumps(request).encode()
        return self._connection.execute(line, timeout_s=timeout_s, feed=lambda stdin: stdin.write(content))


@lru_cache(maxsize=1)
def program_bundle() -> Bundle:
    """Return the sources, arranged so that their folder is a program and they import one another by their own names."""
    package, folder = PurePosixPath(*onhost.__name__.split(".")), Path(onhost.__file__).parent
    sources = {str(package / file.name): file for file in sorted(folder.glob("*.py"))}
    return make_bundle("onhost", {**sources, "__main__.py": folder / "__main__.py"})
