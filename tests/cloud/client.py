"""What the cloud counts, asked from another process."""

from dataclasses import dataclass
from typing import Any

import httpx


@dataclass(frozen=True)
class CloudClient:
    """The same counts as of `Cloud`."""

    endpoint: str

    def instances(self) -> list[dict[str, Any]]:
        """Return all that ever lived."""
        return list(self._ask("instances"))

    def summary(self) -> dict[str, Any]:
        """Return counts of instances and calls."""
        return dict(self._ask("summary"))

    def leftovers(self) -> dict[str, list[str]]:
        """Return everything that still exists."""
        return dict(self._ask("leftovers"))

    def _ask(self, path: str) -> Any:
        return httpx.get(f"{self.endpoint}/_cloud/{path}", timeout=60, trust_env=False).raise_for_status().json()
