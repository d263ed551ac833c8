"""Find an attempt's hosts again: by tags, and by the record of its launches where EC2 does not list all hosts."""

from collections.abc import Callable, Sequence

from plimsoll.adapters.providers.ec2.cloud import LIVING, STATES, Answer, Cloud
from plimsoll.adapters.providers.ec2.describing import is_whole
from plimsoll.adapters.providers.ec2.launched import DOUBT, Launched
from plimsoll.adapters.providers.ec2.pausing import poll_pauses
from plimsoll.adapters.providers.ec2.tags import Filter
from plimsoll.ports.clock import Clock

STANDING = ("pending", "running")
"""States of hosts that serve, or are about to."""


def standing(cloud: Cloud, clock: Clock, filters: Sequence[Filter], launched: Callable[[], Launched]) -> list[Answer]:
    """Return all hosts of a whole cluster; empty where it is not whole, or not in one zone.

    A recorded host that EC2 lists neither as living nor as gone is looked for as long as answers may lag behind its
    launch, and for a minute in any case, as is everything where the record can't be read. The record is read only where
    the tags alone do not decide.
    """
    doubted_until = clock.now() + DOUBT
    for pause in poll_pauses():
        seen = cloud.instances(filters, STATES)
        if is_whole(listed := _standing(seen)):
            return listed
        seen += _untagged(cloud, seen, launched())
        alive, known = _standing(seen), set(launched().living())
        for hosts in (alive, [one for one in alive if one["InstanceId"] in known]):
            if is_whole(hosts):
                return hosts
        gone = {one["InstanceId"] for one in seen if one["State"]["Name"] not in LIVING}
        hidden = known - {one["InstanceId"] for one in seen}
        is_doubtful = clock.now() < doubted_until and bool(hidden or not launched().is_complete)
        if known & gone or not (is_doubtful or any(launched().may_lag(instance) for instance in hidden)):
            return []
        clock.sleep(pause)
    raise AssertionError("looks never end")


def shown(cloud: Cloud, filters: Sequence[Filter], launched: Launched) -> list[Answer]:
    """Return the cluster's instances that EC2 shows in any state: by their tags, and those on record by their ids."""
    listed = cloud.instances(filters, STATES)
    return [*listed, *_untagged(cloud, listed, launched)]


def _untagged(cloud: Cloud, listed: Sequence[Answer], launched: Launched) -> list[Answer]:
    """Return the recorded hosts that lack the tags by which the others are listed: somebody has removed them."""
    seen = {one["InstanceId"] for one in listed}
    return launched.with_tags(cloud.of_ids([one for one in launched.living() if one not in seen]))


def _standing(instances: Sequence[Answer]) -> list[Answer]:
    return [one for one in instances if one["State"]["Name"] in STANDING]
