"""Access to observed machines for tests of databases of which none is looked at."""

from typing import Never

from plimsoll.adapters.providers.external import Observers


def _none() -> Never:
    raise AssertionError("no machine is looked at")


NO_OBSERVERS = Observers(_none)
