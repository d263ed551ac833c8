"""Files over SFTP."""

import io
import stat
from pathlib import Path, PurePosixPath
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.adapters.providers.ssh.files import blocks_asked_for, fetch, prefetch

NAMES = ("_prefetch_thread", "_prefetch_thread", "worker")


class Waiting(Thread):
    """Lives until it is told to end; `was_joined` says whether somebody waited for that, which tells it."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.told, self.was_joined = Event(), False

    def run(self) -> None:
        self.told.wait()

    def join(self, timeout: float | None = None) -> None:
        self.was_joined = timeout is not None
        self.told.set()
        super().join(timeout)


def test_the_thread_that_asks_for_a_files_blocks_has_ended_before_the_channel_is_closed() -> None:
    before, own, others = (Waiting(f"Thread-{number} ({name})") for number, name in enumerate(NAMES))
    before.start()
    with blocks_asked_for():
        own.start()
        others.start()
    assert (before.was_joined, own.was_joined, others.was_joined) == (False, True, False)
    before.join()
    others.join()


def test_a_thread_of_another_transfer_that_is_being_started_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Thread] = []
    monkeypatch.setattr("plimsoll.adapters.providers.ssh.files.threading.enumerate", lambda: list(seen))
    with blocks_asked_for():
        seen.append(Waiting("Thread-7 (_prefetch_thread)"))  # Python lists a thread before it has started


class Lost(io.BytesIO):
    """A file of paramiko's whose connection is lost when its thread asks for the first block."""

    threads: list[Thread]

    def prefetch(self, size: int, _at_once: int) -> None:
        self.threads = [Thread(target=self._prefetch_thread, args=([(0, size)], None))]
        self.threads[0].start()

    def _prefetch_thread(self, chunks: object, _at_once: object) -> None:
        raise OSError(f"Socket is closed: {chunks}")

    def stat(self) -> Any:
        return SimpleNamespace(st_size=len(self.getvalue()))


def test_a_thread_that_asks_for_blocks_ends_quietly_when_the_connection_is_lost() -> None:
    file = Lost(b"content")
    with blocks_asked_for():
        prefetch(file, 7)  # pytest makes an error of what a thread raises
    (thread,) = file.threads
    thread.join(10)  # Python lists it no more a moment before it has ended
    assert ("_prefetch_thread" in thread.name, thread.is_alive()) == (True, False)


def test_a_file_of_one_block_is_fetched_without_a_thread(tmp_path: Path) -> None:
    file = Lost(b"ok\n")
    found = SimpleNamespace(st_mode=stat.S_IFREG, st_size=3)
    sftp: Any = SimpleNamespace(open=lambda _name, _mode: file, stat=lambda _name: found)
    fetch(sftp, PurePosixPath("/opt/plimsoll/exit"), tmp_path / "exit")
    assert ((tmp_path / "exit").read_bytes(), hasattr(file, "threads")) == (b"ok\n", False)
