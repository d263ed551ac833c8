"""Find an attempt's hosts again: by tags, and by the record of its launches where EC2 does not list all hosts."""

from collections.abc import Callable, Sequence

from plimsoll.adapters.providers.ec2.cloud import LIVING, STATES, Answer, Cloud
from plimsoll.adapters.providers.ec2.describing import is_whole
from plimsoll.adapters.providers.ec2.launched import DOUBT, Launched
from plimsoll.adapters.providers.ec2.pausing import looks
from plimsoll.adapters.providers.ec2.tags import Filter
from plimsoll.ports.clock import Clock

STANDING = ("pending", "running")
"""States of hosts that serve, or are about to."""


def standing(cloud: Cloud, clock: Clock, filters: Sequence[Filter], launched: Callable[[], Launched]) -> list[Answer]:
    """Return all hosts of a whole cluster; empty where it is not whole, or not in one zone.

    A recorded host that EC2 lists neither as living nor as gone is looked for as long as answers may lag behind its
    launch, and for a minute in any case, as is everything where the record can't be read. The record is read only where
    the instances alone do not decide.
    """
    doubted_until = clock.now() + DOUBT
    for pause in looks():
        seen = cloud.instances(filters, STATES)
        alive = [one for one in seen if one["State"]["Name"] in STANDING]
        if is_whole(alive):
            return alive
        known = set(launched().living())
        ours = [one for one in alive if one["InstanceId"] in known]
        if is_whole(ours):
            return ours
        gone = {one["InstanceId"] for one in seen if one["State"]["Name"] not in LIVING}
        hidden = known - {one["InstanceId"] for one in seen}
        is_doubtful = clock.now() < doubted_until and bool(hidden or not launched().is_complete)
        if known & gone or not (is_doubtful or any(launched().may_lag(instance) for instance in hidden)):
            return []
        clock.sleep(pause)
    raise AssertionError("looks never end")
