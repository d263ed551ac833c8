"""The marks of a local cluster: environment variables that all its processes carry and hand down.

They make a cluster's processes findable by what is really running, whatever became of those who started them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from plimsoll.domain.cell import AttemptKey

_CLUSTER, _WORK, _OWNER, _HOST = "PLIMSOLL_CLUSTER", "PLIMSOLL_WORK", "PLIMSOLL_OWNER", "PLIMSOLL_HOST"


@dataclass(frozen=True)
class Mark:
    """Which cluster of which work folder a process belongs to, and who owns that."""

    key: AttemptKey
    work: Path
    owner: str

    def environment(self, host: str) -> dict[str, str]:
        """The variables for what runs on that host of the cluster."""
        return {_CLUSTER: str(self.key), _WORK: str(self.work), _OWNER: self.owner, _HOST: host}


def mark_of(environment: Mapping[str, str]) -> Mark | None:
    """The mark in a process' environment; None for a process that belongs to no cluster."""
    if not environment.keys() >= {_CLUSTER, _WORK}:
        return None
    try:
        key = AttemptKey.parse(environment[_CLUSTER])
    except ValueError:  # somebody else's variable of that name
        return None
    return Mark(key, Path(environment[_WORK]), environment.get(_OWNER, ""))
