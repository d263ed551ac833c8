"""Terminate instances by their ids, including instances that EC2 does not know yet."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from plimsoll.adapters.aws.renewing import REFUSED_CREDENTIALS
from plimsoll.adapters.providers.ec2.cloud import Cloud
from plimsoll.adapters.providers.ec2.errors import DENIED, THROTTLED, CloudError

UNKNOWN = "InvalidInstanceID.NotFound"
"""EC2's error code for an instance that is gone, or that EC2 does not know yet."""
# What AWS says to every call, whichever instances it names; no answer has no code.
_OF_ALL = THROTTLED | REFUSED_CREDENTIALS | {""}


@dataclass(frozen=True)
class Ended:
    """The result of one try: `accepted` instances with their earlier states, the rest unknown to EC2 or refused."""

    accepted: dict[str, str] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    refused: dict[str, CloudError] = field(default_factory=dict)

    def require(self) -> None:
        """Raise the first refusal."""
        for error in self.refused.values():
            raise error


def end(cloud: Cloud, ids: Sequence[str], may_lag: Callable[[str], bool] = lambda _: False) -> Ended:
    """Try once to terminate the instances.

    One unknown or protected instance makes EC2 reject the whole call, or the part of it in that instance's zone. Then
    each instance is terminated by a call of its own, unless AWS would refuse every call now. Where the policy requires
    tags, an instance that EC2 does not know yet (`may_lag`) has none, so that EC2 may report missing rights.
    """
    if not ids:
        return Ended()
    try:
        answer = cloud.call("terminate_instances", InstanceIds=list(ids))
    except CloudError as error:
        if len(ids) > 1 and error.code not in _OF_ALL:
            return _joined([end(cloud, [instance], may_lag) for instance in ids])
        if error.code == UNKNOWN or (error.code in DENIED and may_lag(ids[0])):
            return Ended(unknown=tuple(ids))
        return Ended(refused=dict.fromkeys(ids, error))
    before = {one["InstanceId"]: one["PreviousState"]["Name"] for one in answer.get("TerminatingInstances", ())}
    return Ended(accepted={instance: before.get(instance, "running") for instance in ids})


def _joined(tries: Sequence[Ended]) -> Ended:
    accepted = {instance: state for each in tries for instance, state in each.accepted.items()}
    refused = {instance: error for each in tries for instance, error in each.refused.items()}
    return Ended(accepted, tuple(instance for each in tries for instance in each.unknown), refused)
