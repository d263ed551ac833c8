"""Files that a host says it has stored. Hosts that really upload are in the integration tests."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from hashlib import sha256
from pathlib import Path, PurePosixPath

import pytest
from tests.fakes.hosts import FolderHost

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.ports.host import STORED, TAKEN
from plimsoll.ports.store import StoredFile, UploadTicket
from plimsoll.services.cell.collect import upload_directly


class FolderWithTickets(ObjectStore):
    """Implements the DirectStore port on a folder; nobody can use its tickets."""

    def download_url(self, key: str, lifetime: timedelta) -> str:
        return self.url(key)

    def upload_ticket(self, key: str, file: StoredFile, lifetime: timedelta) -> UploadTicket:
        return UploadTicket(self.url(key), {})

    def stored(self, key: str) -> StoredFile:
        content = self.read(key)
        return StoredFile(len(content), sha256(content).hexdigest())

    def create_from(self, key: str, path: Path) -> bool:
        return self.create(key, path.read_bytes())


class SayingHost(FolderHost):
    """Implements the Host port by saying always the same."""

    word = STORED

    def measure(self, paths: Sequence[PurePosixPath]) -> Mapping[PurePosixPath, StoredFile]:
        return {path: StoredFile(3, sha256(b"log").hexdigest()) for path in paths}

    def upload(self, tickets: Mapping[PurePosixPath, UploadTicket]) -> Mapping[PurePosixPath, str]:
        return dict.fromkeys(tickets, self.word)


@pytest.mark.parametrize("word", [STORED, TAKEN])
def test_only_what_the_store_knows_of_has_arrived(tmp_path: Path, word: str) -> None:
    store = FolderWithTickets(str(tmp_path / "store"))
    host = SayingHost(tmp_path / "host", HostInfo(name="node1", role="node", address="10.0.0.1"))
    host.word = word
    store.write("raw/there", b"log")
    keys = {PurePosixPath(name): f"raw/{name}" for name in ("there", "elsewhere")}

    arrived = upload_directly(store, host, keys)

    assert arrived == {PurePosixPath("there"): StoredFile(3, sha256(b"log").hexdigest())}
