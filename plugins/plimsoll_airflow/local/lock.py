"""One launcher at a time for each home: `up`, `down` and `demo` exclude each other."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from plimsoll_airflow.local.errors import StackBusy
from plimsoll_airflow.local.home import Home


@contextmanager
def launcher_lock(home: Home, doing: str) -> Iterator[None]:
    """Hold the home's lock while in the block; the kernel lets go of it when this process dies, however it dies.

    Raises StackBusy, naming the other launcher, at once when it is held.
    """
    owner = home.run / "launcher"
    lock = FileLock(home.run / "launcher.lock", timeout=0)
    try:
        with lock:
            owner.write_text(f"`{doing}`, process {os.getpid()}")
            yield
    except Timeout:
        name = owner.read_text() if owner.exists() else "another launcher"
        raise StackBusy(
            f"{name} is using this Airflow", where=str(home.path), mend="wait until it ends, or press Ctrl-C there"
        ) from None
