"""Logs that nobody here reads."""

from collections.abc import Sequence
from datetime import tzinfo

from plimsoll.domain.log_events import Event, EventKind, LogLine
from plimsoll.ports.product import Evidence


class UnreadLogs(Evidence):
    """An implementation of the Evidence port for logs whose form is not known, or which nobody here has."""

    kinds: Sequence[EventKind] = ()

    def events(self, process: str, text: str, zone: tzinfo) -> Sequence[Event]:  # noqa: ARG002 - nobody can read it
        """Return nothing."""
        return ()

    def lines(self, process: str, text: str, zone: tzinfo) -> Sequence[LogLine]:  # noqa: ARG002 - nobody can read it
        """Return nothing."""
        return ()
