"""The one campaign that these tests ask for: its names, its options, and hosts that answer without being there."""

from collections.abc import Mapping, Sequence
from typing import Any

from plimsoll.domain.cluster import ClusterId, HostInfo
from plimsoll.domain.errors import HostError, NotFound

STORE = "s3://results/runs"
GROUP = "plimsoll-hosts"
KEY = ClusterId(campaign_id="azul", name="g1-040k-r3/1")
"""What the fixture `ask` asks for by itself."""


class FakeHost:
    """A host that says it is prepared, or whatever it is told to."""

    def __init__(self, info: HostInfo, said: Sequence[Any]) -> None:
        self.info = info
        self._said = list(said)

    def read_tail(self, path: Any, *, max_bytes: int) -> str:
        said = self._said.pop(0) if len(self._said) > 1 else self._said[0]
        if isinstance(said, HostError):
            raise said
        return said


class Options:
    """Implements the ProviderOptions port: one campaign."""

    def __init__(self, options: Mapping[str, object]) -> None:
        self.options = dict(options)

    def of_campaign(self, campaign_id: str) -> Mapping[str, object]:
        if campaign_id != "azul":
            raise NotFound("there is no such campaign", where=campaign_id)
        return self.options

    def known(self, provider: str) -> Sequence[Mapping[str, object]]:
        return [self.options]
