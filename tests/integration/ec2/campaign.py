"""The one campaign that these tests ask for: its names, its options, and hosts that answer without being there."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any

from plimsoll.domain.hosts.cluster import ClusterId, HostInfo
from plimsoll.domain.text.errors import HostError

STORE = "s3://results/runs"
GROUP = "plimsoll-hosts"
KEY = ClusterId(campaign_id="azul", name="g1-040k-r3/1")
"""What the fixture `ask` asks for by itself."""


class FakeHost:
    """A host that says it is prepared, or whatever it is told to."""

    def __init__(self, info: HostInfo, said: Sequence[Any]) -> None:
        self.info = info
        self.root = PurePosixPath("/var/lib/plimsoll")
        self.ran: list[Sequence[str]] = []
        self._said = list(said)

    def run(self, argv: Sequence[str], *, timeout: timedelta, check: bool = True) -> None:
        self.ran.append(argv)

    def read_tail(self, path: Any, *, max_bytes: int) -> str:
        said = self._said.pop(0) if len(self._said) > 1 else self._said[0]
        if isinstance(said, HostError):
            raise said
        return said
