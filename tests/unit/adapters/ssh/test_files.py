"""Files over SFTP."""

from threading import Event, Thread

import pytest

from plimsoll.adapters.ssh.files import blocks_asked_for

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
    monkeypatch.setattr("plimsoll.adapters.ssh.files.threading.enumerate", lambda: list(seen))
    with blocks_asked_for():
        seen.append(Waiting("Thread-7 (_prefetch_thread)"))  # Python lists a thread before it has started
