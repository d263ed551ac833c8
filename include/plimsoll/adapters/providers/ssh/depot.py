"""Bundles in a campaign's store, uploaded once, for hosts to download."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

from filelock import FileLock, Timeout

from plimsoll.adapters.providers.ssh.bundles import Bundle, write_archive
from plimsoll.domain.errors import HostError
from plimsoll.ports.store import DirectStore

FETCH = timedelta(minutes=10)
"""The time that a host may take to fetch a bundle."""
_LIFETIME = FETCH + timedelta(minutes=5)
_PATIENCE_S = 300.0

Staged = Callable[[Bundle], str]
"""A URL by which a host gets a bundle's archive, secret and short-lived. StoreError."""


class Depot:
    """Archives by campaign and content: `<prefix>/<name>-<sha256>.tar`.

    `locks` is a folder through which the processes of this machine decide which one uploads. Between machines the store
    decides.
    """

    def __init__(self, store: DirectStore, prefix_of: Callable[[str], str], locks: Path) -> None:
        self._store, self._prefix_of, self._locks = store, prefix_of, locks

    def of_campaign(self, campaign_id: str) -> Staged:
        """Return the depot of that campaign."""
        return lambda bundle: self._url(f"{self._prefix_of(campaign_id)}/{bundle.name}-{bundle.digest}.tar", bundle)

    def _url(self, key: str, bundle: Bundle) -> str:
        if not self._store.exists(key):
            with _explained(bundle), self._alone(bundle):
                if not self._store.exists(key):
                    self._stage(key, bundle)
        return self._store.download_url(key, _LIFETIME)

    @contextmanager
    def _alone(self, bundle: Bundle) -> Iterator[None]:
        """Hold the archive's lock. If another process holds it too long, both upload, and the store accepts one."""
        self._locks.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._locks / f"bundle-{bundle.digest}.lock")
        with suppress(Timeout):
            lock.acquire(timeout=_PATIENCE_S)
        try:
            yield
        finally:
            lock.release()

    def _stage(self, key: str, bundle: Bundle) -> None:
        with tempfile.TemporaryDirectory(prefix="plimsoll-bundle-") as scratch:
            archive = Path(scratch) / "bundle.tar"
            with archive.open("wb") as stream:
                write_archive(bundle, sorted(bundle.files), stream)
            self._store.create_from(key, archive)


@contextmanager
def _explained(bundle: Bundle) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        mend = "free disk space there, or prepare the artefacts again: `make setup`"
        raise HostError(f"{bundle.name} can't be packed: {error}", where="controller", mend=mend) from error
