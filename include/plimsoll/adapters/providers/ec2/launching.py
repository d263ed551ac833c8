"""Launch a cell's hosts in one zone, all or none. Launching again finds the hosts that were launched before."""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count, islice
from typing import Any

from plimsoll.adapters.providers.ec2.cloud import STATES, Answer, Cloud, end, ids_of, is_living, reserved
from plimsoll.adapters.providers.ec2.errors import LATER, UNSURE, CloudError
from plimsoll.adapters.providers.ec2.finding import STANDING, shown
from plimsoll.adapters.providers.ec2.launch_plan import LaunchPlan, client_token, create_placement_group, run_instances
from plimsoll.adapters.providers.ec2.launched import DOUBT, LAG, Launched, where
from plimsoll.adapters.providers.ec2.network import Subnet
from plimsoll.adapters.providers.ec2.readiness import poll_pauses
from plimsoll.adapters.providers.ec2.tags import is_whole, of_cluster, why_ended
from plimsoll.adapters.providers.requested import looks
from plimsoll.domain.hosts.cluster import Role
from plimsoll.domain.text.errors import StoreError
from plimsoll.ports.controller import Clock

NOT_STARTED = "Plimsoll.NotStarted"
"""Our own code beside AWS's: launched hosts that never ran."""

# Where a zone is full, the load hosts alone have been launched in vain.
_ROLES: tuple[Role, Role] = ("load", "node")
# Launches in one zone that somebody else may end, one after another.
_GENERATIONS = 20
_UNKNOWN_GROUP = "InvalidPlacementGroup.Unknown"


class Launcher:
    """The launch of one requested cluster. The answers of RunInstances are trusted until calls show the hosts."""

    def __init__(self, cloud: Cloud, clock: Clock, wanted: LaunchPlan, launched: Launched) -> None:
        self._cloud, self._clock, self.wanted, self._launched = cloud, clock, wanted, launched

    def begun_in(self) -> set[str]:
        """Return subnets in which an interrupted try has hosts, or may have some that are not listed yet."""
        return self._launched.begun_in() | self._used()

    def serves_in(self) -> set[str]:
        """Return subnets that still have hosts of a cluster that was complete before; empty if it never was."""
        return self._used() if self.wanted.was_whole else set()

    def launch(self, subnet: Subnet) -> list[Answer]:
        """Launch all hosts in that subnet and wait until they run. Raises CloudError with AWS's code if that fails."""
        # What an interrupted try has elsewhere is ended first, as a cluster is never of two zones
        here = set(self._launched.living(subnet=subnet.id))
        elsewhere = [instance for instance in self._living() if instance["SubnetId"] != subnet.id]
        self._end_listed(elsewhere, [instance for instance in self._launched.living() if instance not in here])
        ids = [instance for role in _ROLES for instance in self._launch_role(role, subnet)]
        return self._await_running(ids)

    def require_alive(self) -> None:
        """Raise CloudError with AWS's reason if a launched host shows as ended. One that does not show may live."""
        known = set(self._launched.living())
        try:
            seen = self._seen()
        except CloudError as error:
            if error.code in LATER:  # the next look tells
                return
            raise
        for instance in seen:
            if instance["InstanceId"] in known:
                _require_alive(instance, self._cloud.where)

    def undo(self) -> None:
        """Terminate everything that the attempt has launched, whether EC2 lists it yet or not."""
        self._end_listed(self._living(), self._launched.living())

    def _end_listed(self, listed: Sequence[Answer], ids: Collection[str] = ()) -> None:
        """Terminate those instances. Instances that no record names are recorded first, as they cost too."""
        self._launched.discovered(listed)
        self._end([*ids, *ids_of(listed)])

    def _end(self, ids: Collection[str]) -> None:
        """Tell the instances to end, again and again until EC2 knows each of them.

        An instance that stays unknown for longer than answers can lag counts as terminated. Raises CloudError where AWS
        refuses to end one, once all others were told to end.
        """
        left, refused = list(dict.fromkeys(ids)), dict[str, CloudError]()
        for pause in poll_pauses():
            ended = end(self._cloud, left, self._launched.may_lag)
            refused |= ended.refused
            self._launched.ended(ended.accepted)
            left = [instance for instance in ended.unknown if self._launched.may_lag(instance)]
            self._launched.ended(dict.fromkeys(set(ended.unknown) - set(left), "terminated"))
            if not left:
                break
            self._clock.sleep(pause)
        for error in refused.values():
            raise error

    def _living(self) -> list[Answer]:
        return [instance for instance in self._seen() if self._is_alive(instance)]

    def _used(self) -> set[str]:
        return {instance["SubnetId"] for instance in self._living()}

    def _launch_role(self, role: Role, subnet: Subnet) -> list[str]:
        """Return ids of all hosts of that role, launched now or earlier.

        If hosts of an attempt's own cluster died, all hosts of that role are launched again together. Of kept hosts
        only those that died or are unfit are replaced.
        """
        known = self._launched.living(role, subnet.id)
        lost = self._lost(known) | (self.wanted.unfit & set(known))
        if len(known) == self.wanted.count(role) and not lost:
            return known
        staying = [instance for instance in known if instance not in lost] if self.wanted.id.is_kept else []
        self._end([instance for instance in known if instance not in staying])
        if len(staying) == self.wanted.count(role):  # others have replaced those that ended, which no record told
            return staying
        return [*staying, *self._launch_beside(staying, role, subnet)]

    def _launch_beside(self, staying: Collection[str], role: Role, subnet: Subnet) -> list[str]:
        """Return ids of the hosts of that role that are missing beside those that stay, launched now or before."""
        for generation in islice(self._unused(staying, role, subnet), _GENERATIONS):
            made = self._run(role, subnet, generation, staying)
            if made and all(map(self._is_alive, made)):
                return ids_of(made)
            self._end(ids_of(filter(self._is_alive, made)))
        what = f"all of {_GENERATIONS} launches of the role {role} were terminated from outside"
        mend = "see who terminates them, then run the cell again"
        raise CloudError(what, where=f"{self._cloud.where}, zone {subnet.zone}", mend=mend)

    def _unused(self, staying: Collection[str], role: Role, subnet: Subnet) -> Iterator[int]:
        """Yield generations of which no hosts have ended: they were, at each try, while the other role had no room."""
        for generation in count():
            if not self._launched.is_used_up(client_token(self.wanted, role, subnet.zone, generation, staying)):
                yield generation

    def _is_alive(self, instance: Answer) -> bool:
        """Tell whether the instance lives. A repeated request may be answered with instances as they once were."""
        return is_living(instance) and not self._launched.has_ended(instance["InstanceId"])

    def _run(self, role: Role, subnet: Subnet, generation: int, beside: Collection[str]) -> list[Answer]:
        """Return the instances that this generation's request launched, now or earlier; empty if they were terminated.

        `beside`: ids of living hosts of that role, which stay.
        """
        request = run_instances(self.wanted, role, subnet, generation, beside)
        token, group = request["ClientToken"], request["Placement"].get("GroupName", "")
        position = where(subnet.id, subnet.zone, group, self.wanted.image.id)
        self._launched.record_request(token, role, position, self.wanted)
        try:
            if group:
                self._make_group(subnet, group)
            made = self._requested(request)
        except CloudError as error:
            # The client may have sent it before, without an answer. Then a refusal to look at it says nothing.
            if error.code not in (LATER if error.repeated else UNSURE):
                self._launched.answered(token, [])
            raise
        try:
            self._launched.answered(token, made)
        except StoreError:  # nobody could find the hosts again
            self._end(ids_of(made))
            raise
        return made

    def _make_group(self, subnet: Subnet, name: str) -> None:
        try:
            self._cloud.call("create_placement_group", **create_placement_group(self.wanted, subnet))
        except CloudError as error:
            if error.code == "InvalidPlacementGroup.Duplicate":
                return
            if error.code not in LATER:
                self._launched.without_group(name)
            raise

    def _requested(self, request: dict[str, Any]) -> list[Answer]:
        """Return the answer to RunInstances; a placement group that was just made may be unknown to it for a while."""
        try:
            answer = retry_until_known(
                self._clock, _UNKNOWN_GROUP, lambda: self._cloud.call("run_instances", **request)
            )
        except CloudError as error:
            if error.code == "IdempotentInstanceTerminated":
                return []
            if error.code == "IdempotentParameterMismatch":  # an earlier try, with another expiry
                return self._of_token(request["ClientToken"])
            raise
        return reserved(answer)

    def _of_token(self, token: str) -> list[Answer]:
        """Return the instances that an earlier request with that token has launched; nothing where they have ended.

        EC2 keeps a token longer than it shows hosts that have ended. So where no host shows, the token is used up, or
        its hosts do not show yet. They do once answers can't lag behind the refusal, which came after their launch. If
        EC2 lags even longer, these hosts serve no cell: a cluster consists of the hosts in the answers to its launches.
        The next launch, or the end of the cluster, ends all other hosts with its tags.
        """
        by_token = [{"Name": "client-token", "Values": [token]}]
        for _ in looks(self._clock, poll_pauses(), LAG):
            if instances := self._cloud.instances(by_token, STATES):
                return instances
        return []

    def _await_running(self, ids: Sequence[str]) -> list[Answer]:
        startup = self.wanted.options.startup
        for _ in looks(self._clock, poll_pauses(), startup):
            asked_at = self._clock.now()
            own = [instance for instance in self._seen() if instance["InstanceId"] in ids]
            self._launched.record_states(own, asked_at)
            for instance in own:
                _require_alive(instance, self._cloud.where)
            if is_whole(own) and all(instance["State"]["Name"] == "running" for instance in own):
                # Of an earlier try, perhaps, whose answer nobody got.
                self._end_listed([instance for instance in self._living() if instance["InstanceId"] not in ids])
                return own
        states = ", ".join(f"{instance['InstanceId']} is {instance['State']['Name']}" for instance in own)
        what = f"hosts did not start within {startup}: {states or 'none is to be seen'}"
        raise CloudError(what, where=self._cloud.where, mend="run the cell again", code=NOT_STARTED)

    def _seen(self) -> list[Answer]:
        return shown(self._cloud, of_cluster(self.wanted.store, self.wanted.id), self._launched)

    def _lost(self, known: Collection[str]) -> set[str]:
        """Return ids of instances that EC2 shows as ended or stopped, or does not list though answers can't lag so far.

        AWS stops a host before it retires its machine: such a host serves nobody any more.
        """
        for _ in looks(self._clock, poll_pauses(), DOUBT):
            lives = {instance["InstanceId"]: instance["State"]["Name"] in STANDING for instance in self._seen()}
            unseen = {instance for instance in known if instance not in lives and not self._launched.may_lag(instance)}
            if not unseen:
                break
        return unseen | {instance for instance in known if not lives.get(instance, True)}


def retry_until_known(clock: Clock, unknown: str, call: Callable[[], Answer]) -> Answer:
    """Return the call's answer, asked again within LAG while that code says that EC2 does not know what was made."""
    deadline = clock.now() + LAG
    for pause in poll_pauses():
        try:
            return call()
        except CloudError as error:
            if error.code != unknown or clock.now() > deadline:
                raise
        clock.sleep(pause)
    raise AssertionError("looks never end")


def _require_alive(instance: Answer, where: str) -> None:
    """Raise CloudError with AWS's reason if an instance has already ended."""
    if instance["State"]["Name"] in STANDING:
        return
    raise CloudError(
        f"{instance['InstanceId']} ended while it started: {why_ended(instance)}",
        where=where,
        mend="run the cell again; if it goes on, the message above is AWS's own",
        code=instance.get("StateReason", {}).get("Code") or NOT_STARTED,
    )
