"""Everything that ever lived, and how much of it at once."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Entry:
    """One instance. Times are the cloud's; None: not yet. `shut_down`: when it began to end; billed until then."""

    instance_id: str
    instance_type: str
    vcpus: int
    zone: str
    tags: dict[str, str]
    launched: float
    running: float | None = None
    shut_down: float | None = None
    ended: float | None = None
    why: str = ""


@dataclass
class Census:
    """Counts from the launch to the end of an instance: `pending` and `shutting-down` ones live too."""

    entries: dict[str, Entry] = field(default_factory=dict)
    peak_instances: int = 0
    peak_vcpus: int = 0

    def born(self, entry: Entry) -> None:
        """Count an instance that was launched."""
        self.entries[entry.instance_id] = entry
        self.peak_instances = max(self.peak_instances, len(self.alive()))
        self.peak_vcpus = max(self.peak_vcpus, self.vcpus())

    def alive(self) -> list[Entry]:
        """Return the instances that are not terminated."""
        return [entry for entry in self.entries.values() if entry.ended is None]

    def vcpus(self) -> int:
        """Return the vCPUs of the living instances."""
        return sum(entry.vcpus for entry in self.alive())

    def instance_seconds(self, now: float) -> float:
        """Return the seconds that EC2 bills of all instances that ever ran: neither `pending` nor `shutting-down`."""
        ran = [entry for entry in self.entries.values() if entry.running is not None]
        return sum((now if entry.shut_down is None else entry.shut_down) - (entry.running or 0.0) for entry in ran)

    def summary(self, now: float) -> dict[str, Any]:
        """Return the counts."""
        return {
            "launched": len(self.entries),
            "alive": len(self.alive()),
            "vcpus": self.vcpus(),
            "peak_instances": self.peak_instances,
            "peak_vcpus": self.peak_vcpus,
            "instance_seconds": self.instance_seconds(now),
        }
