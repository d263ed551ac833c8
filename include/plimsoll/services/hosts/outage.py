"""A store that does not answer must not hold up the end of hosts: it is asked once, not once for each of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from plimsoll.domain.errors import SecretError, StoreError
from plimsoll.ports.clock import Clock

_KEPT = timedelta(minutes=1)


class Outage:
    """Remembers for a minute that the store could not be reached. Each try costs minutes where packets vanish."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: datetime | None = None
        self._error: StoreError | None = None

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """Ask the store within. StoreError at once while it is known to be out of reach, or for want of credentials."""
        if self._error is not None and self._until is not None and self._clock.now() < self._until:
            raise self._error
        try:
            yield
        except (StoreError, SecretError) as error:
            self._error = StoreError(error.what, where=error.where, mend=error.mend)
            self._until = self._clock.now() + _KEPT
            raise self._error from error
