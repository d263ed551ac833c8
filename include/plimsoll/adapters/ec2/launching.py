"""Launch a cell's hosts in one zone, whole or not at all; repeated, it finds what it has launched."""

from collections.abc import Sequence
from datetime import timedelta

from plimsoll.adapters.ec2.cloud import LIVING, Answer, Cloud
from plimsoll.adapters.ec2.describing import is_whole, of_role
from plimsoll.adapters.ec2.errors import CloudError
from plimsoll.adapters.ec2.network import Subnet
from plimsoll.adapters.ec2.pausing import looks
from plimsoll.adapters.ec2.requests import Wanted, create_placement_group, run_instances
from plimsoll.adapters.ec2.tags import of_key
from plimsoll.domain.cluster import Role
from plimsoll.ports.clock import Clock

NOT_STARTED = "Plimsoll.NotStarted"
"""Our own code beside AWS's: launched hosts that never ran."""

_ROLES: tuple[Role, Role] = ("node", "load")
# How long an answer may lag behind what was done, as EC2 is eventually consistent.
_LAG = timedelta(minutes=1)
# Tokens that one attempt may use up in one zone.
_GENERATIONS = 20
_STATES = (*LIVING, "shutting-down", "terminated")


class Launcher:
    """Launches one wanted cluster."""

    def __init__(self, cloud: Cloud, clock: Clock, wanted: Wanted) -> None:
        self._cloud, self._clock, self.wanted = cloud, clock, wanted

    def living(self) -> list[Answer]:
        """The attempt's instances that are not gone."""
        return self._cloud.instances(of_key(self.wanted.store, self.wanted.key))

    def launch(self, subnet: Subnet) -> list[Answer]:
        """All hosts, running, in that subnet. CloudError with AWS's code when they can't be had there."""
        if self.wanted.options.placement_group == "cluster":
            self._make_group(subnet)
        ids = [one["InstanceId"] for role in _ROLES for one in self._launch_role(role, subnet)]
        return self._await_running(ids)

    def undo(self) -> None:
        """Terminate whatever the attempt has; a cell's hosts are never of two zones."""
        self._terminate(self.living())

    def _terminate(self, instances: Sequence[Answer]) -> None:
        if instances:
            self._cloud.call("terminate_instances", InstanceIds=[one["InstanceId"] for one in instances])

    def _make_group(self, subnet: Subnet) -> None:
        try:
            self._cloud.call("create_placement_group", **create_placement_group(self.wanted, subnet))
        except CloudError as error:
            if error.code != "InvalidPlacementGroup.Duplicate":
                raise

    def _launch_role(self, role: Role, subnet: Subnet) -> list[Answer]:
        standing = of_role(self.living(), role)
        if len(standing) == self.wanted.count(role):
            return standing
        # Some of them have died meanwhile: a role's hosts come up together.
        self._terminate(standing)
        for generation in range(_GENERATIONS):
            made = self._run(role, subnet, generation)
            if made and all(one["State"]["Name"] in LIVING for one in made):
                return made
        what = f"all of {_GENERATIONS} launches of the role {role} were terminated from outside"
        raise CloudError(what, where=self._where(subnet), mend="see who terminates them, then run the cell again")

    def _run(self, role: Role, subnet: Subnet, generation: int) -> list[Answer]:
        """What the request of that generation has launched, now or before; nothing where that was terminated."""
        request = run_instances(self.wanted, role, subnet, generation)
        try:
            made: list[Answer] = self._cloud.call("run_instances", **request)["Instances"]
        except CloudError as error:
            if error.code == "IdempotentInstanceTerminated":
                return []
            if error.code == "IdempotentParameterMismatch":  # an earlier try, with another expiry
                return self._of_token(request["ClientToken"], subnet)
            raise
        return made

    def _of_token(self, token: str, subnet: Subnet) -> list[Answer]:
        by_token = [{"Name": "client-token", "Values": [token]}]
        deadline = self._clock.now() + _LAG
        for pause in looks():
            found = self._cloud.instances(by_token, _STATES)
            if found:
                return found
            if self._clock.now() > deadline:
                break
            self._clock.sleep(pause)
        raise CloudError("an earlier launch can't be found", where=self._where(subnet), mend="run the cell again")

    def _await_running(self, ids: Sequence[str]) -> list[Answer]:
        deadline = self._clock.now() + self.wanted.options.startup
        for pause in looks():
            found = [one for one in self._seen() if one["InstanceId"] in ids]
            for one in found:
                _require_alive(one, self._cloud.where)
            if is_whole(found) and all(one["State"]["Name"] == "running" for one in found):
                return found
            if self._clock.now() > deadline:
                break
            self._clock.sleep(pause)
        raise self._never_ran(found)

    def _seen(self) -> list[Answer]:
        return self._cloud.instances(of_key(self.wanted.store, self.wanted.key), _STATES)

    def _never_ran(self, found: Sequence[Answer]) -> CloudError:
        states = ", ".join(f"{one['InstanceId']} is {one['State']['Name']}" for one in found) or "none is to be seen"
        what = f"hosts did not start within {self.wanted.options.startup}: {states}"
        return CloudError(what, where=self._cloud.where, mend="run the cell again", code=NOT_STARTED)

    def _where(self, subnet: Subnet) -> str:
        return f"{self._cloud.where}, zone {subnet.zone}"


def _require_alive(instance: Answer, where: str) -> None:
    """CloudError with the reason that AWS gives, once an instance has ended again."""
    if instance["State"]["Name"] in LIVING:
        return
    reason = instance.get("StateReason", {})
    said = reason.get("Message") or "no reason given"
    raise CloudError(
        f"{instance['InstanceId']} ended while it started: {said}",
        where=where,
        mend="run the cell again; if it goes on, the message above is AWS's own",
        code=reason.get("Code", NOT_STARTED),
    )
