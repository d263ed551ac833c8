"""Terminate instances by their ids, also those that EC2 does not know yet."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from plimsoll.adapters.ec2.cloud import Cloud
from plimsoll.adapters.ec2.errors import DENIED, CloudError

_UNKNOWN = "InvalidInstanceID.NotFound"


@dataclass(frozen=True)
class Ended:
    """What one try came to: `accepted` instances with the states that they were in, and those unknown to EC2."""

    accepted: dict[str, str] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()


def end(cloud: Cloud, ids: Sequence[str], may_lag: Callable[[str], bool] = lambda _: False) -> Ended:
    """One try to terminate them. CloudError where AWS refuses.

    An id that EC2 does not know keeps all of a call from being terminated: then each is told by itself. Where the
    policy asks for tags, what is not known yet (`may_lag`) has none, so that the refusal may be one for want of rights.
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
