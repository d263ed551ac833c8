"""EC2's eventual consistency: what its answers do not show yet.

The front door takes out of moto's memory, for the time of one call, what that call can't see yet, and puts it back.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from moto.ec2.models.instances import Instance
from tests.cloud.lifecycle import Life, Lifecycle

# These see what there is: a token launches once however little is to be seen.
_CONSISTENT = {"RunInstances", "CreatePlacementGroup"}


@dataclass
class Lag:
    """Seconds by which EC2's answers lag behind what was done, and how many instances a page shows.

    `launches`: no call knows a new instance, its disks and its interface. `terminations`: describe calls show the state
    before. `groups`: no call knows a new placement group. `in_use`: a group can't be deleted although its instances are
    gone.
    """

    launches: float = 0.0
    terminations: float = 0.0
    groups: float = 0.0
    in_use: float = 0.0
    page: int = 1000

    @classmethod
    def of(cls, seconds: float, page: int = 1000) -> "Lag":
        """Return the same for all."""
        return cls(launches=seconds, terminations=seconds, groups=seconds, in_use=seconds, page=page)


@contextmanager
def past(lifecycle: Lifecycle, lag: Lag, action: str) -> Iterator[None]:
    """Show a call of that action moto's memory as it was. The caller holds the lifecycle's lock."""
    if action in _CONSISTENT:
        yield
        return
    now = lifecycle.clock.now()
    with ExitStack() as back:
        for life in list(lifecycle.lives.values()):
            if lifecycle.census.entries[life.instance.id].launched + lag.launches > now:
                _hide(life.instance, back)
            elif action.startswith("Describe") and life.shut_down is not None and _is_stale(life, lag, now):
                back.enter_context(mock.patch.object(life.instance, "_state", life.before))
        yield


def _is_stale(life: Life, lag: Lag, now: float) -> bool:
    return life.shut_down is not None and life.shut_down + lag.terminations > now


def _hide(instance: Instance, back: ExitStack) -> None:
    backend: Any = instance.ec2_backend
    for reservation in backend.reservations.values():
        if instance in reservation.instances:
            others = [one for one in reservation.instances if one is not instance]
            back.enter_context(mock.patch.object(reservation, "instances", others))
    own = {volume for volume, one in backend.volumes.items() if _is_attached(one, instance)}
    for held, ids in ((backend.volumes, own), (backend.enis, {nic.id for nic in instance.nics.values()})):
        hidden = {name: held.pop(name) for name in ids if name in held}
        back.callback(held.update, hidden)


def _is_attached(volume: Any, instance: Instance) -> bool:
    return volume.attachment is not None and volume.attachment.instance is instance
