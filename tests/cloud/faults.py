"""What can go wrong in the test cloud, on demand. Each fault is a value; `Faults` holds those in force."""

import itertools
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar


@dataclass(frozen=True)
class Fault:
    """`times`: so often it strikes, then it is over; None: until it is cleared."""

    times: int | None = None


@dataclass(frozen=True)
class Place(Fault):
    """Where launches are struck. None: everywhere, of every type."""

    zone: str | None = None
    instance_type: str | None = None

    def covers(self, zone: str, instance_type: str) -> bool:
        """Tell whether a launch there is meant."""
        return self.zone in (None, zone) and self.instance_type in (None, instance_type)


@dataclass(frozen=True)
class NoCapacity(Place):
    """RunInstances fails with InsufficientInstanceCapacity."""


@dataclass(frozen=True)
class NoAddresses(Fault):
    """RunInstances into the subnet fails with InsufficientFreeAddressesInSubnet; it shows 0 free addresses."""

    subnet: str = ""


@dataclass(frozen=True)
class VcpuLimit(Fault):
    """RunInstances fails with VcpuLimitExceeded where it would bring the living vCPUs above so many."""

    vcpus: int = 0


@dataclass(frozen=True)
class Throttle(Fault):
    """That share of the calls (0 … 1, evenly spread) fails: RequestLimitExceeded, in S3 SlowDown. "*": all actions."""

    action: str = "*"
    share: float = 1.0


@dataclass(frozen=True)
class Deny(Fault):
    """The action is not allowed: UnauthorizedOperation, AccessDenied or AccessDeniedException, by the service.

    Named as in IAM without the service (`RunInstances`, `PutObject`, `GetParameter`).
    """

    action: str = ""


@dataclass(frozen=True)
class OnlyKey(Fault):
    """Credentials were rotated: calls signed by another access key are refused as expired."""

    access_key: str = ""


@dataclass(frozen=True)
class LoseAnswer(Fault):
    """The call is carried out, then the connection closes without an answer."""

    action: str = ""


@dataclass(frozen=True)
class StayPending(Place):
    """Instances launched there never leave `pending`."""


@dataclass(frozen=True)
class DieAfter(Place):
    """Instances launched there are gone so many seconds after they began to run, as when the hardware fails."""

    seconds: float = 0.0


@dataclass(frozen=True)
class NoBoot(Place):
    """Instances launched there run, but their host never boots: no SSH, status checks impaired."""


@dataclass(frozen=True)
class SmallDisk(Place):
    """The NVMe disks of instances launched there hold only so many bytes."""

    bytes: int = 16 * 2**20


@dataclass(frozen=True)
class NoDisks(Place):
    """The hosts of instances launched there show none of their own disks."""


Kind = TypeVar("Kind", bound=Fault)


@dataclass
class _Held:
    fault: Fault
    left: int | None
    # Bresenham's way of spreading a share evenly over calls.
    due: float = 0.0


class Faults:
    """The faults in force, in the order they were added. Thread-safe."""

    _numbers: ClassVar["itertools.count[int]"] = itertools.count(1)

    def __init__(self) -> None:
        self._held: dict[int, _Held] = {}
        self._lock = threading.Lock()

    def add(self, fault: Fault) -> int:
        """Put it in force; returns the number it is cleared by."""
        number = next(self._numbers)
        with self._lock:
            self._held[number] = _Held(fault, fault.times)
        return number

    def clear(self, number: int | None = None) -> None:
        """Lift one fault, or all."""
        with self._lock:
            for one in list(self._held) if number is None else [number]:
                self._held.pop(one, None)

    def all(self) -> Mapping[int, Fault]:
        """Return the faults in force."""
        with self._lock:
            return {number: held.fault for number, held in self._held.items()}

    def of(self, kind: type[Kind]) -> tuple[Kind, ...]:
        """Return the faults of a kind, unused."""
        return tuple(fault for fault in self.all().values() if isinstance(fault, kind))

    def at(self, kind: type[Kind], zone: str, instance_type: str) -> Kind | None:
        """Return the first of that kind which strikes a launch there; uses it once."""
        found: Kind | None = self._strike(
            lambda fault: type(fault) is kind and isinstance(fault, Place) and fault.covers(zone, instance_type)
        )
        return found

    def on(self, kind: type[Kind], action: str) -> Kind | None:
        """Return the first of that kind which strikes a call of that action; uses it once."""
        found: Kind | None = self._strike(
            lambda fault: type(fault) is kind and getattr(fault, "action", "") in ("*", action)
        )
        return found

    def _strike(self, meant: Callable[[Fault], bool]) -> Any:
        with self._lock:
            for number, held in self._held.items():
                if meant(held.fault) and self._is_due(held):
                    self._use(number, held)
                    return held.fault
        return None

    @staticmethod
    def _is_due(held: _Held) -> bool:
        if not isinstance(held.fault, Throttle):
            return True
        held.due += held.fault.share
        struck = held.due >= 1.0
        held.due -= struck
        return struck

    def _use(self, number: int, held: _Held) -> None:
        if held.left is None:
            return
        held.left -= 1
        if held.left == 0:
            del self._held[number]
