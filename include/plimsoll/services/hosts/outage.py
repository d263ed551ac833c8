"""Remember that the store does not answer, so that destroying many hosts does not wait for it once per host."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from plimsoll.domain.text.errors import DamagedRecord, StoreError
from plimsoll.ports.clock import Clock

_KEPT = timedelta(minutes=1)


class Outage:
    """A memory of a minute that the store could not be reached, because a try can take minutes to time out."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: datetime | None = None
        self._error: StoreError | None = None

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """Let the block access the store. Raises StoreError when the store can't be reached.

        While the store is known to be out of reach, the error is raised at once.
        """
        if self._error is not None and self._until is not None and self._clock.now() < self._until:
            raise self._error
        try:
            yield
        except DamagedRecord:  # the store does answer
            raise
        except StoreError as error:
            self._error, self._until = error, self._clock.now() + _KEPT
            raise
