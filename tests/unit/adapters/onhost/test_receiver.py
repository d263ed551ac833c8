"""What takes in a bundle."""

import hashlib
import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from plimsoll.adapters.hosts.onhost import receiver

CONTENT = {"bin/java": b"java", "lib/a.jar": b"a", "it's": b"odd"}
CHECKSUMS = {name: hashlib.sha256(data).hexdigest() for name, data in CONTENT.items()}


def archive(names: Any, content: Any = None) -> Any:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name in names:
            data = (content or CONTENT)[name]
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(data), 0o755, 1_000_000
            tar.addfile(entry, io.BytesIO(data))
    return stream.getvalue()


@pytest.fixture
def send(tmp_path: Path) -> Callable[..., Any]:
    def sent(names: Any, data: Any = None) -> None:
        receiver.receive(tmp_path / "place", io.BytesIO(archive(names) if data is None else data))

    return sent


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "place"


def test_all_is_missing_at_first(place: Path) -> None:
    assert receiver.settle(place, CHECKSUMS) == list(CHECKSUMS)
    assert not place.exists()


def test_what_has_arrived_is_not_missing_any_more(place: Path, send: Callable[..., Any]) -> None:
    send(["bin/java"])
    assert receiver.settle(place, CHECKSUMS) == ["lib/a.jar", "it's"]
    send(["lib/a.jar", "it's"])
    assert receiver.settle(place, CHECKSUMS) == []
    assert {name: (place / name).read_bytes() for name in CONTENT} == CONTENT
    assert (place / "bin/java").stat().st_mode & 0o777 == 0o755
    assert (place / "bin/java").stat().st_mtime == 1_000_000


def test_a_damaged_file_is_asked_for_again_alone(place: Path, send: Callable[..., Any]) -> None:
    send(CONTENT)
    receiver.settle(place, CHECKSUMS)
    (place / "it's").write_bytes(b"damaged")
    assert receiver.settle(place, CHECKSUMS) == ["it's"]
    send(["it's"])
    assert receiver.settle(place, CHECKSUMS) == []


def test_half_an_archive_leaves_whole_files(place: Path, send: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.raises(tarfile.TarError):
        send([], archive(CONTENT)[:1536])
    left = [path for path in (tmp_path / "place.part").rglob("*") if path.is_file()]
    assert [path.name for path in left] == ["java"]
    assert receiver.settle(place, CHECKSUMS) == ["lib/a.jar", "it's"]


def test_nothing_is_written_outside(send: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no file of a bundle"):
        send([], archive(["../evil"], {"../evil": b"x"}))
    assert not (tmp_path / "evil").exists()
