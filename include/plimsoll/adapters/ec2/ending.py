"""Terminate instances by their ids, including instances that EC2 does not know yet."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from plimsoll.adapters.ec2.cloud import Cloud
from plimsoll.adapters.ec2.errors import DENIED, CloudError

_UNKNOWN = "InvalidInstanceID.NotFound"


@dataclass(frozen=True)
class Ended:
    """The result of one try: `accepted` instances with their earlier states, and the ids unknown to EC2."""

    accepted: dict[str, str] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()


def end(cloud: Cloud, ids: Sequence[str], may_lag: Callable[[str], bool] = lambda _: False) -> Ended:
    """Try once to terminate the instances. Raises CloudError where AWS refuses.

    One unknown id makes EC2 reject the whole call; then each instance is terminated by a call of its own. Where the
    policy requires tags, an instance that EC2 does not know yet (`may_lag`) has none, so that EC2 may report missing
    rights.
    """
    if not ids:
        return Ended()
    try:
        answer = cloud.call("terminate_instances", InstanceIds=list(ids))
    except CloudError as error:
        if error.code != _UNKNOWN and not (error.code in DENIED and any(map(may_lag, ids))):
            raise
        return Ended(unknown=tuple(ids)) if len(ids) == 1 else _one_by_one(cloud, ids, may_lag)
    before = {one["InstanceId"]: one["PreviousState"]["Name"] for one in answer.get("TerminatingInstances", ())}
    return Ended(accepted={instance: before.get(instance, "running") for instance in ids})


def _one_by_one(cloud: Cloud, ids: Sequence[str], may_lag: Callable[[str], bool]) -> Ended:
    tries = [end(cloud, [instance], may_lag) for instance in ids]
    accepted = {instance: state for each in tries for instance, state in each.accepted.items()}
    return Ended(accepted, tuple(instance for each in tries for instance in each.unknown))
