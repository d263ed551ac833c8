"""What a running instance is: nothing (an instant host), or processes of this machine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

HostMode = Literal["instant", "namespaces"]


@dataclass(frozen=True)
class Machine:
    """What a host is made of. `plan` is its boot (`tests.cloud.user_data`); `disks` names with bytes or None."""

    instance_id: str
    address: str
    prefix: int
    plan: Mapping[str, Any]
    disks: Mapping[str, int | None]

    @property
    def hostname(self) -> str:
        """Return the host's name, which EC2 derives from its address."""
        return "ip-" + self.address.replace(".", "-")


@dataclass
class HostLog:
    """What a host reported. Grows while it lives, stays after it ended."""

    events: list[dict[str, Any]] = field(default_factory=list)

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return events of a kind: alive, executed, written, ssh, booted, call, started, shutdown, failed, error."""
        return [event for event in list(self.events) if event["event"] == kind]

    @property
    def ready(self) -> bool:
        """Tell whether SSH answers."""
        return bool(self.of("ssh"))

    @property
    def booted(self) -> bool:
        """Tell whether the boot is over, well or not."""
        return bool(self.of("booted") or self.of("failed"))

    @property
    def calls(self) -> list[list[str]]:
        """Return the command lines of the stand-ins, in order."""
        return [event["argv"] for event in self.of("call")]

    @property
    def executed(self) -> dict[str, int]:
        """Return commands of the user data with their exit codes."""
        return {event["command"]: event["exit_code"] for event in self.of("executed")}


class Host(Protocol):
    """One started host."""

    log: HostLog

    def stop(self) -> None:
        """End everything of it and remove what it has written. Idempotent."""

    def freeze(self) -> None:
        """Stop every process of it where it stands."""

    def thaw(self) -> None:
        """Let them go on."""

    def cut(self) -> None:
        """Cut the link: nothing goes in or out any more, and processes go on."""

    def heal(self) -> None:
        """Let the link work again."""

    def skip(self, seconds: float) -> None:
        """Bring its timers nearer."""

    def path(self, inside: str) -> Path:
        """Return the place of a file of the host on this machine."""


class Hosts(Protocol):
    """A way to start hosts. `gateway` is the cloud's own address as hosts reach it."""

    mode: HostMode
    gateway: str
    network: str

    def start(self, machine: Machine) -> Host:
        """Start it; returns at once, its log tells how far it is."""

    def close(self) -> None:
        """End all of it, network and folders included. Idempotent."""


class InstantHost:
    """No process at all: ready at once."""

    def __init__(self) -> None:
        self.log = HostLog([{"event": "ssh"}, {"event": "booted", "ok": True}])

    def stop(self) -> None:
        """Do nothing, because nothing runs."""

    freeze = thaw = cut = heal = stop

    def skip(self, seconds: float) -> None:
        """Do nothing, because there are no timers."""

    def path(self, inside: str) -> Path:
        """Raise an error, because an instant host has no files."""
        raise FileNotFoundError(inside)


class InstantHosts:
    """Instances without hosts, for thousands of them."""

    mode: HostMode = "instant"
    gateway, network = "127.0.0.1", "10.0.0.0/16"

    def start(self, machine: Machine) -> Host:
        """Return a host that is ready at once."""
        return InstantHost()

    def close(self) -> None:
        """Do nothing, because nothing runs."""
