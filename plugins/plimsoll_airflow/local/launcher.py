"""The launcher: one at a time for each home, as `up`, `down` and `demo` exclude each other, and ended by Ctrl-C, a
closed terminal or SIGTERM as by one exception, but never while a process is being started; and its record of the stack
that it started, which the next launcher uses as a hint and verifies.
"""

import json
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from types import FrameType

from filelock import FileLock, Timeout

from plimsoll_airflow.local.home import LOOPBACK, Home, StackBusy, write_private

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

CLEANING_UP = "the end of what a killed launcher has left"
"""The purpose for which a guard holds the lock. It is over soon, and worth waiting for."""

_BRIEFLY_S = 0.5
"""The time in which a holder of the lock has noted its name, s."""

_CLEANED_UP_S = 180.0


class Interrupted(BaseException):
    """A signal asked the launcher to end. It is not an `Exception`, so that no handler of failures swallows it."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


class Interrupts:
    """The handler that turns the first signal into `Interrupted`. Later signals are counted: they ask for haste."""

    def __init__(self) -> None:
        self.count = 0
        self._pending: int | None = None
        self._shields = 0

    def in_haste(self) -> bool:
        """Tell whether the user has asked twice to stop."""
        return self.count > 1

    @contextmanager
    def caught(self) -> Iterator["Interrupts"]:
        before = {number: signal.signal(number, self._handle) for number in SIGNALS}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def shielded(self) -> Iterator[None]:
        """Delay the exception of a signal to the end of the block; it is dropped if the block itself raises."""
        self._shields += 1
        try:
            yield
        finally:
            self._shields -= 1
        self._raise_pending()

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        self.count += 1
        if self._pending is None and self.count == 1:
            self._pending = number
        self._raise_pending()

    def _raise_pending(self) -> None:
        if self._pending is not None and not self._shields:
            number, self._pending = self._pending, None
            raise Interrupted(number)


@contextmanager
def launcher_lock(home: Home, doing: str) -> Iterator[None]:
    """Hold the home's lock inside the block. The kernel releases it when this process dies for any reason.

    Raises StackBusy, with the other launcher, when the lock is held. A guard that is cleaning up is waited for.
    """
    owner, lock = home.run / "launcher", FileLock(home.run / "launcher.lock")
    try:
        _take(lock, owner)
    except Timeout:
        name = _noted(owner) or "another launcher"
        raise StackBusy(
            f"{name} is using this Airflow", where=str(home.path), mend="wait until it ends, or press Ctrl-C there"
        ) from None
    try:
        owner.write_text(f"`{doing}`, process {os.getpid()}")
        yield
    finally:
        lock.release()


def _take(lock: FileLock, owner: Path) -> None:
    try:
        lock.acquire(timeout=_BRIEFLY_S)
    except Timeout:
        if CLEANING_UP not in _noted(owner):
            raise
        lock.acquire(timeout=_CLEANED_UP_S)


def _noted(owner: Path) -> str:
    return owner.read_text() if owner.exists() else ""


@dataclass(frozen=True)
class Record:
    """A started stack: the port of its api-server, whether it outlives its launcher, and what it was told: a digest of
    its settings. The names are those in the file of a stack that may be running when Plimsoll is updated.
    """

    port: int
    kept: bool
    told: str

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def write(self, home: Home) -> None:
        write_private(_record_file(home), json.dumps(asdict(self)))


def read_record(home: Home) -> Record | None:
    """Return the record; None without one, and of one that another version of Plimsoll has written."""
    try:
        return Record(**json.loads(_record_file(home).read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def forget_record(home: Home) -> None:
    """Delete the record and the recorded sessions, because nothing runs any more."""
    for path in (_record_file(home), *home.session_notes()):
        path.unlink(missing_ok=True)


def settings_digest(environment: Mapping[str, str]) -> str:
    settings = sorted((key, value) for key, value in environment.items() if key.startswith("PLIMSOLL_"))
    return sha256(json.dumps(settings).encode()).hexdigest()


def _record_file(home: Home) -> Path:
    return home.run / "stack.json"
