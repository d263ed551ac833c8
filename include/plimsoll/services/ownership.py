"""Which process works on a campaign. If several `plimsoll run` start at once, one of them holds the campaign.

The holder renews its hold while it lives. A hold is a numbered file: taking the campaign over creates the next number,
which only one process can do. For processes on the holder's machine a hold ends with the holder's process. For other
machines it ends when it has not been renewed for a while.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import AwareDatetime

from plimsoll.domain.hosts.owner import ProcessOwner, owner_since
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import Problem, Refused, StoreError
from plimsoll.ports.controller import Owners
from plimsoll.ports.provider import TIME_TO_PROVISION
from plimsoll.ports.store import ResultStore
from plimsoll.services.store.layout import Record
from plimsoll.services.toolkit import Toolkit

LASTS = timedelta(minutes=5)
"""The time that a hold lasts without renewal."""
LOST_AFTER = TIME_TO_PROVISION + timedelta(hours=2)
"""The time beyond its declared time after which no attempt can be running any more: its hosts end an hour earlier, even
if they were waited for as long as a cell may.
"""
_RENEWED_EVERY_S = 60.0


class Hold(Model):
    """The holder of a campaign, the start of the hold, and its end if nobody renews it."""

    owner: str
    since: AwareDatetime
    until: AwareDatetime
    released: bool = False


HOLD = Record("holds/<number>.json", Hold, indent=None)


@dataclass(frozen=True)
class Holder:
    """The holder's own view of its hold."""

    toolkit: Toolkit
    campaign_id: str
    number: int
    hold: Hold

    def renew(self) -> None:
        """Extend the hold. Raises Refused where another process has taken the campaign over."""
        self.require()
        self._replace(self.hold.model_copy(update={"until": self.toolkit.clock.now() + LASTS}))

    def release(self) -> None:
        self._replace(self.hold.model_copy(update={"released": True}))

    def require(self) -> None:
        """Raise Refused where another process took the campaign over while this one could not reach the store."""
        newest = _newest(self.toolkit.store, self.campaign_id)
        if newest is not None and newest[0] != self.number:
            raise _refused(self.campaign_id, newest[1])

    def _replace(self, hold: Hold) -> None:
        HOLD.write(self.toolkit.store, self.campaign_id, hold, self.number)


@contextmanager
def held(toolkit: Toolkit, campaign_id: str) -> Iterator[Holder]:
    """Hold the campaign inside the block. Raises Refused, with holder and start, where a living process holds it."""
    holder = _take(toolkit, campaign_id)
    over = threading.Event()
    renewing = threading.Thread(target=_keep, args=(holder, over.wait), daemon=True, name="plimsoll-hold")
    renewing.start()
    try:
        yield holder
    finally:
        over.set()
        renewing.join()
        with suppress(StoreError, Refused):  # the hold ends anyway, with this process or when its time is over
            holder.require()  # A hold that was taken over must not be written again
            holder.release()


def require_free(toolkit: Toolkit, campaign_id: str, owner: str = "") -> None:
    """Raise Refused, with holder and start, where a living process other than that owner holds the campaign."""
    hold = hold_in_force(toolkit.store, toolkit.owners, campaign_id, toolkit.clock.now())
    if hold is not None and hold.owner != owner:
        raise _refused(campaign_id, hold)


def hold_in_force(store: ResultStore, owners: Owners, campaign_id: str, now: datetime) -> Hold | None:
    """Return the hold of the process that works on the campaign; None where none does."""
    newest = _newest(store, campaign_id)
    return newest[1] if newest and _is_in_force(newest[1], owners, now) else None


def is_at_work(store: ResultStore, owners: Owners, campaign_id: str, owner: str, now: datetime) -> bool | None:
    """Tell whether the owner of an attempt is alive; None where that is not known.

    For a process on another machine, its hold on the campaign gives the answer.
    """
    alive = owners.is_alive(owner)
    # A run of Airflow holds no campaign
    if alive is not None or ProcessOwner.parse(owner) is None:
        return alive
    hold = hold_in_force(store, owners, campaign_id, now)
    return hold is not None and hold.owner == owner


def is_in_force(alive: bool | None, until: datetime, now: datetime) -> bool:
    """Tell whether an owner's claim still holds: while the owner is alive or, where unknown, until that time."""
    return now < until if alive is None else alive


def _take(toolkit: Toolkit, campaign_id: str) -> Holder:
    store, owner = toolkit.store, toolkit.owners.me()
    while True:
        newest, now = _newest(store, campaign_id), toolkit.clock.now()
        number, last = newest or (0, None)
        if last is not None and _is_in_force(last, toolkit.owners, now):
            raise _refused(campaign_id, last)
        mine = Hold(owner=owner, since=now, until=now + LASTS)
        # Of several processes at once, the one that creates the next number holds the campaign.
        if HOLD.create(store, campaign_id, mine, number + 1):
            # Only now: without any number in between, another process could take the campaign by number 1
            if last is not None:
                store.delete(HOLD.key(campaign_id, number))
            return Holder(toolkit, campaign_id, number + 1, mine)


def _keep(holder: Holder, is_over: Callable[[float], bool]) -> None:
    while not is_over(_RENEWED_EVERY_S):
        try:
            holder.renew()
        except StoreError:  # tried again later: a hold outlasts several failed renewals
            continue
        except Refused:  # raised again when the next cell begins
            return


def _newest(store: ResultStore, campaign_id: str) -> tuple[int, Hold] | None:
    while number := HOLD.newest_number(store, campaign_id):
        if hold := HOLD.read(store, campaign_id, number):  # else the campaign was taken over meanwhile
            return number, hold
    return None


def _is_in_force(hold: Hold, owners: Owners, now: datetime) -> bool:
    return not hold.released and is_in_force(owners.is_alive(hold.owner), hold.until, now)


def _refused(campaign_id: str, hold: Hold) -> Refused:
    what = f"is being run by {owner_since(hold.owner, hold.since)}"
    mend = "wait until it has ended, or end it there with Ctrl-C; then the same command goes on where it was"
    return Refused([Problem(f"campaign {campaign_id!r}", what, mend)])
