"""Find an attempt's hosts again: by tags, and by the record of its launches where EC2 does not list all hosts."""

from collections.abc import Callable, Sequence

from plimsoll.adapters.ec2.cloud import LIVING, STATES, Answer, Cloud
from plimsoll.adapters.ec2.describing import is_whole
from plimsoll.adapters.ec2.launched import Launched
from plimsoll.adapters.ec2.pausing import looks
from plimsoll.adapters.ec2.tags import Filter
from plimsoll.ports.clock import Clock

_STANDING = ("pending", "running")


def standing(cloud: Cloud, clock: Clock, filters: Sequence[Filter], launched: Callable[[], Launched]) -> list[Answer]:
    """All hosts of a whole cluster; empty where it is not whole, or not in one zone.

    A recorded host that EC2 lists neither as living nor as gone is looked for as long as answers may lag behind its
    launch. The record is read only where the instances alone do not decide.
    """
    for pause in looks():
        seen = cloud.instances(filters, STATES)
        alive = [one for one in seen if one["State"]["Name"] in _STANDING]
        if is_whole(alive):
            return alive
        known = set(launched().living())
        ours = [one for one in alive if one["InstanceId"] in known]
        if is_whole(ours):
            return ours
        gone = {one["InstanceId"] for one in seen if one["State"]["Name"] not in LIVING}
        hidden = known - {one["InstanceId"] for one in seen}
        if known & gone or not any(launched().may_lag(instance) for instance in hidden):
            return []
        clock.sleep(pause)
    raise AssertionError("looks never end")
