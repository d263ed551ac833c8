"""Files that hosts bring to the store themselves, and those that they can't bring."""

import hashlib
import logging
import os
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from plimsoll.ports.host import STORED, TAKEN
from plimsoll.ports.store import StoredFile
from plimsoll.services.cell.collect import upload_directly

MIB = 1 << 20
SOON = timedelta(minutes=1)


@pytest.fixture
def ssh_host(plain_ssh_host: Any) -> Any:
    return plain_ssh_host


@pytest.fixture
def files(ssh_host: Any) -> Any:
    """Provide a large file, an empty one and one with an odd name, on the host."""
    folder = Path(ssh_host.root) / "load"
    folder.mkdir(parents=True)
    content = {"big.hdr": os.urandom(3 * MIB), "empty.log": b"", "it's ödd": b"odd"}
    for name, data in content.items():
        (folder / name).write_bytes(data)
    return {PurePosixPath(folder / name): data for name, data in content.items()}


def keys_of(files: Any) -> Any:
    return {path: f"raw/node1/{path.name}" for path in files}


def described(data: Any) -> Any:
    return StoredFile(len(data), hashlib.sha256(data).hexdigest())


def test_files_arrive_as_they_were_measured(ssh_host: Any, store: Any, service: Any, files: Any) -> None:
    arrived = upload_directly(store, ssh_host, keys_of(files))
    assert arrived == {path: described(data) for path, data in files.items()}
    assert {store.read(key) for key in store.keys("raw")} == set(files.values())
    assert service.called("PUT", "/raw/") == 3
    assert service.called("HEAD", "/raw/") == 3


def test_what_is_there_stays_and_is_what_counts(ssh_host: Any, store: Any, files: Any) -> None:
    """Two who collect at once, or one after the other: the manifest of each is true."""
    first = upload_directly(store, ssh_host, keys_of(files))
    grown = next(path for path in files if path.name == "big.hdr")
    Path(grown).write_bytes(files[grown] + b"more")
    assert upload_directly(store, ssh_host, keys_of(files)) == first
    assert store.read("raw/node1/big.hdr") == files[grown]


@pytest.mark.parametrize("fault", ["lost", "503"])
def test_an_interrupted_transfer_is_begun_again(
    ssh_host: Any, store: Any, service: Any, files: Any, fault: Any
) -> None:
    service.faults = [fault]
    assert len(upload_directly(store, ssh_host, keys_of(files))) == 3


def test_of_a_file_that_grows_what_was_measured_is_sent(ssh_host: Any, store: Any, files: Any) -> None:
    grows = next(path for path in files if path.name == "big.hdr")
    measured = ssh_host.measure([grows])
    Path(grows).write_bytes(files[grows] + b"more")
    ticket = store.upload_ticket("raw/x", measured[grows], SOON)
    assert ssh_host.upload({grows: ticket}) == {grows: STORED}
    assert store.read("raw/x") == files[grows]
    assert ssh_host.upload({grows: ticket}) == {grows: TAKEN}


def test_a_file_that_shrinks_or_vanishes_is_said(
    ssh_host: Any, store: Any, files: Any, caplog: pytest.LogCaptureFixture
) -> None:
    shrinks = next(path for path in files if path.name == "it's ödd")
    measured = ssh_host.measure([shrinks, PurePosixPath("none")])
    assert list(measured) == [shrinks]
    ticket = store.upload_ticket("raw/x", measured[shrinks], SOON)
    Path(shrinks).unlink()
    assert "No such file" in ssh_host.upload({shrinks: ticket})[shrinks]
    assert not store.exists("raw/x")


def test_what_the_store_refuses_is_left_to_others_and_no_secret_is_told(
    ssh_host: Any, store: Any, service: Any, files: Any, caplog: pytest.LogCaptureFixture
) -> None:
    service.faults = ["403"] * 3
    with caplog.at_level(logging.DEBUG, logger="plimsoll"):
        assert upload_directly(store, ssh_host, keys_of(files)) == {}
    logged = "\n".join(record.getMessage() for record in caplog.records)
    assert "big.hdr is fetched instead: the store answers 403 (Told)" in logged
    assert "Amz" not in logged


def test_what_did_not_arrive_as_sent_does_not_count(
    ssh_host: Any, store: Any, files: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(store), "stored", lambda *_: StoredFile(1, "ab" * 32))
    assert upload_directly(store, ssh_host, keys_of(files)) == {}
