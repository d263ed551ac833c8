"""What becomes of instances, and when. moto knows only `running` and `terminated`."""

import base64
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.ec2.models.instances import Instance, InstanceState, StateReason
from tests.cloud.census import Census, Entry
from tests.cloud.clock import CloudClock
from tests.cloud.faults import DieAfter, Faults, NoBoot, NoDisks, SmallDisk, StayPending
from tests.cloud.hosts import Host, Hosts, Machine
from tests.cloud.user_data import parse

PENDING, RUNNING, SHUTTING_DOWN, TERMINATED = (0, "pending"), (16, "running"), (32, "shutting-down"), (48, "terminated")


@dataclass(frozen=True)
class Delays:
    """Seconds that an instance spends in a state; `status` from `running` until its checks may pass.

    `forget`: how long a terminated instance can still be described.
    """

    pending: float = 0.5
    status: float = 0.5
    shutting_down: float = 0.5
    forget: float = 3600.0


@dataclass
class Life:
    """One instance. `due` is when its state ends by itself; None: never.

    `shut_down` is when it began to end, from the state `before`.
    """

    instance: Instance
    due: float | None
    dies_after: float | None
    boots: bool
    disk_bytes: int | None
    disks: Sequence[str]
    running: float | None = None
    dies: float | None = None
    shut_down: float | None = None
    before: InstanceState | None = None
    host: Host | None = None
    shutdown: bool = False
    error: str = ""

    @property
    def state(self) -> str:
        """Return the state as EC2 names it."""
        return str(self.instance.state)


class Lifecycle:
    """All instances. `lock` guards them and everything of moto's EC2."""

    def __init__(self, clock: CloudClock, delays: Delays, faults: Faults, census: Census) -> None:
        self.clock, self.delays, self.faults, self.census = clock, delays, faults, census
        self.lock = threading.RLock()
        self.lives: dict[str, Life] = {}
        self.hosts: Hosts | None = None
        self._began = datetime.now(UTC) - timedelta(seconds=clock.now())
        self._steps: dict[str, Callable[[Life, float], None]] = {
            "pending": self._run,
            "running": self._fail,
            "shutting-down": self._finish,
            "terminated": self._forget,
        }

    def time(self, now: float | None = None) -> datetime:
        """Return the cloud's clock as the time of day."""
        return self._began + timedelta(seconds=self.clock.now() if now is None else now)

    def born(self, instance: Instance, mapped: Sequence[str] = ()) -> None:
        """Begin the life of an instance: pending, until it is due. `mapped`: names of devices for disks of its own."""
        at, now = (instance.placement.zone or "", instance.instance_type), self.clock.now()
        stays = self.faults.at(StayPending, *at)
        dies, small = self.faults.at(DieAfter, *at), self.faults.at(SmallDisk, *at)
        _set(instance, PENDING)
        launched = self.time(now).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        instance.launch_time = launched  # type: ignore[assignment]  # moto prints what it gets
        self.lives[instance.id] = Life(
            instance,
            due=None if stays else now + self.delays.pending,
            dies_after=dies.seconds if dies else None,
            boots=self.faults.at(NoBoot, *at) is None,
            disk_bytes=small.bytes if small else None,
            disks=() if self.faults.at(NoDisks, *at) else own_disks(instance.instance_type, mapped),
        )
        tags = {tag["key"]: tag["value"] for tag in instance.get_tags()}
        entry = Entry(instance.id, instance.instance_type, vcpus(instance.instance_type), at[0], tags, launched=now)
        self.census.born(entry)

    def tick(self) -> None:
        """Move on whatever is due."""
        with self.lock:
            now = self.clock.now()
            for life in list(self.lives.values()):
                if life.shutdown:
                    self._power_off(life)
                elif life.due is not None and life.due <= now:
                    self._steps[life.state](life, now)

    def terminate(self, instance: Instance, code: str = "Client.UserInitiatedShutdown") -> InstanceState:
        """Begin to end an instance; returns the state before."""
        before = InstanceState(str(instance.state), int(instance.state_code))
        life = self.lives[instance.id]
        if before.name not in ("shutting-down", "terminated"):
            _set(instance, SHUTTING_DOWN, code)
            now, entry = self.clock.now(), self.census.entries[instance.id]
            life.shut_down, life.before, life.due = now, before, now + self.delays.shutting_down
            self._end_host(life)
            entry.shut_down, entry.why = now, code
            instance._reason = _transition(code, self.time(now))
        return before

    def status(self, instance: Instance) -> str:
        """Return the checks of a running instance: initializing, ok, impaired."""
        life = self.lives[instance.id]
        if life.state != "running":
            return "not-applicable"
        if life.host is None:
            return "impaired" if life.error or not life.boots else "initializing"
        if life.host.log.of("failed"):
            return "impaired"
        passed = self.clock.now() >= (life.running or 0.0) + self.delays.status and life.host.log.ready
        return "ok" if passed else "initializing"

    def report(self, instance_id: str, event: dict[str, Any]) -> None:
        """Note the report of a host, in another thread, for the next tick to act on."""
        if event["event"] == "shutdown" and instance_id in self.lives:
            self.lives[instance_id].shutdown = True

    def _run(self, life: Life, now: float) -> None:
        _set(life.instance, RUNNING)
        life.running = self.census.entries[life.instance.id].running = now
        life.due = None if life.dies_after is None else now + life.dies_after
        if life.boots and self.hosts is not None:
            try:
                life.host = self.hosts.start(machine_of(life))
            except Exception as error:
                life.error = f"{type(error).__name__}: {error}"

    def _fail(self, life: Life, now: float) -> None:
        self.terminate(life.instance, "Server.InternalError")
        self._finish(life, now)

    def _power_off(self, life: Life) -> None:
        """Terminate an instance that was launched so. Another would stop, cost on, and never be gone, as on AWS."""
        life.shutdown = False
        if life.instance.instance_initiated_shutdown_behavior == "terminate":
            self.terminate(life.instance, "Client.InstanceInitiatedShutdown")

    def _finish(self, life: Life, now: float) -> None:
        """Terminate the instance: disks, interfaces and addresses are free."""
        instance, reason = life.instance, life.instance.state_reason
        addresses = [
            (nic.subnet, each["PrivateIpAddress"])
            for nic in instance.nics.values()
            for each in nic.private_ip_addresses
        ]
        for nic in instance.nics.values():
            nic.delete_on_termination = True
        ORIGINAL_TERMINATE(instance)
        for subnet, address in addresses:
            subnet.del_subnet_ip(address)
        instance.state_reason = reason
        self.census.entries[instance.id].ended = now
        life.due = now + self.delays.forget

    def _forget(self, life: Life, now: float) -> None:
        backend = life.instance.ec2_backend
        for key, reservation in list(backend.reservations.items()):
            reservation.instances = [one for one in reservation.instances if one is not life.instance]
            if not reservation.instances:
                del backend.reservations[key]
        backend.tags.pop(life.instance.id, None)
        life.due = None
        del self.lives[life.instance.id]

    def _end_host(self, life: Life) -> None:
        if life.host is not None:
            life.host.stop()


ORIGINAL_TERMINATE = Instance.terminate


def _set(instance: Instance, state: tuple[int, str], reason: str = "") -> None:
    instance._state = InstanceState(state[1], state[0])
    instance.state_reason = StateReason(f"{reason}: {_REASONS.get(reason, reason)}" if reason else "", reason)


def _transition(code: str, at: datetime) -> str:
    """Return EC2's reason for the end of an instance, with the time where a user has ended it."""
    return f"User initiated ({at:%Y-%m-%d %H:%M:%S} GMT)" if code.startswith("Client.User") else ""


_REASONS = {
    "Client.UserInitiatedShutdown": "User initiated shutdown",
    "Client.InstanceInitiatedShutdown": "Instance initiated shutdown",
    "Server.InternalError": "Internal error on launch",
}


def vcpus(instance_type: str) -> int:
    """Return the vCPUs of a type."""
    return int(INSTANCE_TYPES[instance_type]["VCpuInfo"]["DefaultVCpus"])


def own_disks(instance_type: str, mapped: Sequence[str]) -> list[str]:
    """Return the names of a type's own disks: NVMe ones come by themselves, others only where a launch maps them."""
    storage = INSTANCE_TYPES[instance_type].get("InstanceStorageInfo", {})
    count = sum(int(disk["Count"]) for disk in storage.get("Disks", ()))
    if storage.get("NvmeSupport") == "unsupported":  # the kernel's name of /dev/sdb
        return [name.replace("/dev/sd", "xvd") for name in mapped[:count]]
    return [f"nvme{number}n1" for number in range(1, count + 1)]


def machine_of(life: Life) -> Machine:
    """Return the host that an instance is to have."""
    instance = life.instance
    return Machine(
        instance_id=instance.id,
        address=str(instance.private_ip),
        prefix=instance.nics[0].subnet.cidr.prefixlen,
        plan=parse(b"" if instance.user_data is None else base64.b64decode(str(instance.user_data))),
        disks=dict.fromkeys(life.disks, life.disk_bytes),
    )
