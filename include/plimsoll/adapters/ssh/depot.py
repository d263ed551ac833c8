"""Bundles in a campaign's store, staged once, for hosts to fetch them from there."""

import tempfile
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from plimsoll.adapters.ssh.bundles import Bundle, write_archive
from plimsoll.domain.errors import HostError
from plimsoll.ports.store import DirectStore

FETCH = timedelta(minutes=10)
"""What a host may take to fetch one."""
_LIFETIME = FETCH + timedelta(minutes=5)

Staged = Callable[[Bundle], str]
"""A URL by which a host gets a bundle's archive, secret and short-lived. StoreError."""


class Depot:
    """Archives by the campaign and their content: `<prefix>/<name>-<sha256>.tar`. Safe for several threads."""

    def __init__(self, store: DirectStore, prefix_of: Callable[[str], str]) -> None:
        self._store, self._prefix_of = store, prefix_of
        self._staging = threading.Lock()

    def of_campaign(self, campaign_id: str) -> Staged:
        """That campaign's."""
        return lambda bundle: self._url(f"{self._prefix_of(campaign_id)}/{bundle.name}-{bundle.digest}.tar", bundle)

    def _url(self, key: str, bundle: Bundle) -> str:
        with self._staging:
            if not self._store.exists(key):
                self._stage(key, bundle)
        return self._store.download_url(key, _LIFETIME)

    def _stage(self, key: str, bundle: Bundle) -> None:
        """Of two processes that stage the same at once, the store takes one archive."""
        try:
            with tempfile.TemporaryDirectory(prefix="plimsoll-bundle-") as scratch:
                archive = Path(scratch) / "bundle.tar"
                with archive.open("wb") as stream:
                    write_archive(bundle, sorted(bundle.files), stream)
                self._store.create_from(key, archive)
        except OSError as error:
            mend = "free disk space there, or prepare the artefacts again: `make setup`"
            raise HostError(f"{bundle.name} can't be packed: {error}", where="controller", mend=mend) from error
