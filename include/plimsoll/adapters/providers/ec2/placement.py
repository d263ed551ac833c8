"""Find a place for a cell's hosts: all in one zone, the next zone when one is full, with waiting when all are full."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from plimsoll.adapters.providers.ec2.cloud import Answer
from plimsoll.adapters.providers.ec2.errors import CAPACITY, FAILED, QUOTA, THROTTLED, CloudError
from plimsoll.adapters.providers.ec2.launching import NOT_STARTED, Launcher
from plimsoll.adapters.providers.ec2.network import Subnet
from plimsoll.adapters.providers.requested import pauses
from plimsoll.domain.text.errors import ProviderError
from plimsoll.ports.controller import Clock, Log
from plimsoll.ports.provider import FullZones, NoneFull

_UNSUPPORTED = "Unsupported"
# The last but one is AWS's word for hosts that broke while they started, the last for a type that a zone lacks.
_MOVES = CAPACITY | {NOT_STARTED, "Server.InternalError", _UNSUPPORTED}

T = TypeVar("T")


def preferred(
    subnets: Sequence[Subnet], begun: Collection[str], is_full: Callable[[Subnet], bool] = lambda _: False
) -> list[Subnet]:
    """Return the subnets, those in which a try has begun (`begun`: ids) first, those known to be full last. Pure."""
    return sorted(subnets, key=lambda subnet: (subnet.id not in begun, is_full(subnet)))


def patiently(step: Callable[[], T], name: str, clock: Clock, deadline: datetime, log: Log) -> T:
    """Return the step's result, tried again until that time while AWS fails or throttles. Raises the last error."""
    for pause in pauses(name):
        try:
            return step()
        except CloudError as error:
            if error.code not in FAILED | THROTTLED or clock.now() + timedelta(seconds=pause) > deadline:
                raise
            log(f"{name}: {error.what}; next try in {pause:.0f} s, until {deadline:%H:%M:%S} UTC at most")
        clock.sleep(pause)
    raise AssertionError("pauses never end")


@dataclass(frozen=True)
class Placement:
    """The search of a zone for the launcher's hosts. Zones that any cell has found to be full lately come last."""

    launcher: Launcher
    clock: Clock
    log: Log
    full_zones: FullZones = field(default=NoneFull())

    def placed(self, subnets: Sequence[Subnet], deadline: datetime) -> list[Answer]:
        """Return the hosts, running, all in one zone. Raises ProviderError if there is no room until that time.

        If some hosts of a kept cluster still live, the missing ones are first tried in the same zone, for half of the
        time. After that, all hosts are launched in another zone. If a quota is the obstacle, the living hosts are kept,
        because the quota holds in every zone.
        """
        began, begun = self.clock.now(), self.launcher.begun_in()
        # Hosts in two zones are no cluster: all begin anew in one
        if len(begun) > 1:
            self.launcher.undo()
        # Everything that lives is in one subnet, and is what is left of a cluster that was complete
        home = [subnet for subnet in subnets if begun == {subnet.id} == self.launcher.serves_in()]
        if home:
            instances, full = self._hosts_by(began + (deadline - began) / 2, home, keeps=True)
            if full is None:
                return instances
            if full.code not in QUOTA:
                name = self.launcher.wanted.id
                self.log(f"{name}: no room beside the hosts that are left: all are launched in another zone")
                home = []
        known = self.full_zones.known()
        order = home or preferred(subnets, begun, lambda subnet: self._name_of(subnet) in known)
        instances, full = self._hosts_by(deadline, order, keeps=bool(home))
        if full is not None:
            patience = self.launcher.wanted.options.patience
            raise ProviderError(f"no room within {patience}: {full.what}", where=full.where, mend=full.mend) from full
        return instances

    def _hosts_by(
        self, deadline: datetime, subnets: Sequence[Subnet], *, keeps: bool
    ) -> tuple[list[Answer], CloudError | None]:
        """Return the hosts, or the reason why no zone had room by that time."""
        name, patience = str(self.launcher.wanted.id), self.launcher.wanted.options.patience
        began = self.clock.now()
        for pause in pauses(name):
            instances, full = self._one_round(subnets, keeps=keeps)
            waited = self.clock.now() - began
            if full is None or self.clock.now() + timedelta(seconds=pause) > deadline:
                return instances, full
            minutes = f"{waited / timedelta(minutes=1):.0f} of at most {patience / timedelta(minutes=1):.0f} minutes"
            self.log(f"{name}: {full.what}; waiting for room since {minutes}, next try in {pause:.0f} s")
            self.clock.sleep(pause)
        raise AssertionError("pauses never end")

    def _name_of(self, subnet: Subnet) -> str:
        """Return the zone with all that its room depends on: whose it is, and which types are asked for."""
        options, types = self.launcher.wanted.options, self.launcher.wanted.options.instance_types
        return f"{options.connection}~{subnet.zone}~{types.node}~{types.load}"

    def _one_round(self, subnets: Sequence[Subnet], *, keeps: bool) -> tuple[list[Answer], CloudError | None]:
        """Return the hosts, or the reason why no zone has room. With `keeps`, hosts that were launched stay.

        Raises CloudError where no zone has the types at all, as waiting does not mend that.
        """
        full: CloudError | None = None
        lacking: CloudError | None = None
        for subnet in subnets:
            try:
                return self.launcher.launch(subnet), None
            except CloudError as error:
                if error.code not in _MOVES | QUOTA:
                    raise
                refused = error
            if not keeps:
                self.launcher.undo()
            full, lacking = (full, refused) if refused.code == _UNSUPPORTED else (refused, lacking)
            if refused.code in QUOTA:  # it holds in every zone
                break
            if refused.code in CAPACITY:
                self.full_zones.note(self._name_of(subnet))
            self.log(f"{self.launcher.wanted.id}: no room in {subnet.zone}: {refused.code}")
        if full is None and lacking is not None:
            raise lacking
        return [], full
