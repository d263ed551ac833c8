"""The cloud's controls from another process."""

from dataclasses import asdict
from typing import Any

import httpx
from tests.cloud.faults import Fault

_TIMEOUT_S = 60.0


class CloudClient:
    """The same verbs as `Cloud`. httpx.HTTPStatusError with the reason where one is refused."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def fault(self, fault: Fault) -> int:
        """Put a fault in force; returns the number to clear it by."""
        return int(self._ask("POST", "faults", {"kind": type(fault).__name__, **asdict(fault)})["number"])

    def clear(self, number: int | None = None) -> None:
        """Lift one fault or all."""
        self._ask("DELETE", "faults" if number is None else f"faults/{number}")

    def skip(self, seconds: float) -> None:
        """So much later."""
        self._ask("POST", "skip", {"seconds": seconds})

    def freeze(self, instance_id: str) -> None:
        """Stop every process of the host."""
        self._act(instance_id, "freeze")

    def thaw(self, instance_id: str) -> None:
        """Let them go on."""
        self._act(instance_id, "thaw")

    def cut(self, instance_id: str) -> None:
        """Cut the host's link."""
        self._act(instance_id, "cut")

    def heal(self, instance_id: str) -> None:
        """Mend it."""
        self._act(instance_id, "heal")

    def kill(self, instance_id: str) -> None:
        """The instance is gone."""
        self._act(instance_id, "kill")

    def events(self, instance_id: str) -> list[dict[str, Any]]:
        """What the host reported."""
        return list(self._ask("GET", f"instances/{instance_id}/events"))

    def instances(self) -> list[dict[str, Any]]:
        """Return all that ever lived."""
        return list(self._ask("GET", "instances"))

    def landscape(self) -> dict[str, Any]:
        """Return ids of what the account had before."""
        return dict(self._ask("GET", "landscape"))

    def summary(self) -> dict[str, Any]:
        """Counts."""
        return dict(self._ask("GET", "summary"))

    def leftovers(self) -> dict[str, list[str]]:
        """What is still there."""
        return dict(self._ask("GET", "leftovers"))

    def _act(self, instance_id: str, verb: str) -> None:
        self._ask("POST", f"instances/{instance_id}/{verb}")

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = httpx.request(method, f"{self.endpoint}/_cloud/{path}", json=body, timeout=_TIMEOUT_S, trust_env=False)
        answer.raise_for_status()
        return answer.json()
