"""The final attempts that a reader of campaigns keeps in memory from one read to the next."""

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Generic, TypeVar

from plimsoll.domain.cell import AttemptKey

_S = TypeVar("_S")

FinalAttempt = tuple[AttemptKey, str]
"""A final attempt: its key, and the stamp of its verdict in the store, which no other verdict has."""
LIMIT = 12_000
"""The number of attempts of several campaigns that are remembered at most. Each takes about 50 kB of memory."""


class FinalAttempts(Generic[_S]):
    """States of final attempts by campaign, as the last read of the campaign found them.

    Beyond the limit, the campaigns that were read longest ago are forgotten. Threads may share it.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._of: OrderedDict[str, Mapping[FinalAttempt, _S]] = OrderedDict()
        self._changing = Lock()

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    def of(self, campaign_id: str) -> Mapping[FinalAttempt, _S]:
        """Return what the last read of the campaign found."""
        return self._of.get(campaign_id, {})

    def replace(self, campaign_id: str, found: Mapping[FinalAttempt, _S]) -> None:
        """Remember what the present read found, and nothing else of the campaign."""
        with self._changing:
            self._of[campaign_id] = found
            self._of.move_to_end(campaign_id)
            while len(self) > self._limit and len(self._of) > 1:
                self._of.popitem(last=False)

    def forget(self, campaign_id: str) -> None:
        """Remember nothing of the campaign."""
        with self._changing:
            self._of.pop(campaign_id, None)
