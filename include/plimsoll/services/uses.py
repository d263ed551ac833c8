"""The record of who has used kept hosts, and when: numbered files below `clusters/<what they are kept for>/uses/`."""

from datetime import datetime
from typing import Annotated

from pydantic import AwareDatetime, Field

from plimsoll.domain.base import Model
from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.cluster import ClusterId
from plimsoll.domain.cost import Span
from plimsoll.ports.store import ResultStore
from plimsoll.services import layout
from plimsoll.services.campaigns import read_model


class Use(Model):
    """One attempt's time on kept hosts."""

    attempt: AttemptKey
    owner: Annotated[str, Field(description="Token of whoever runs the attempt")]
    cluster: ClusterId
    since: AwareDatetime
    until: Annotated[AwareDatetime, Field(description="When the attempt is over at the latest")]
    over: Annotated[bool, Field(description="Whether it has ended; a file of its own says so")] = False
    over_at: Annotated[AwareDatetime | None, Field(description="When it ended, where that is on record")] = None


def use_of(store: ResultStore, key: AttemptKey) -> Use | None:
    """The attempt's time on kept hosts; None where it was given none yet."""
    return read_model(store, key, layout.USE, Use)


def newest_use(store: ResultStore, campaign_id: str, purpose: str) -> tuple[int, Use | None]:
    """The newest use of hosts kept for that purpose, and its number; 0 and None where there was none."""
    names = _names(store, campaign_id, purpose)
    number = max(_numbers(names), default=0)
    return number, _use(store, campaign_id, purpose, number, names) if number else None


def uses(store: ResultStore, campaign_id: str, purpose: str) -> tuple[Use, ...]:
    """All uses of hosts kept for that purpose, in order."""
    names = _names(store, campaign_id, purpose)
    return tuple(_use(store, campaign_id, purpose, number, names) for number in sorted(set(_numbers(names))))


def end_use(store: ResultStore, campaign_id: str, purpose: str, number: int, at: datetime) -> None:
    """Put on record that the use is over. Idempotent: the first time stays."""
    store.create(layout.use_over_key(campaign_id, purpose, number), at.isoformat().encode())


def spans(store: ResultStore, cluster_id: ClusterId) -> tuple[Span, ...]:
    """When each attempt used that cluster. A use whose end nobody has recorded ended when the next one began."""
    every = uses(store, cluster_id.campaign_id, cluster_id.purpose)
    begun_later = (*(one.since for one in every[1:]), None)
    ends = [one.over_at or later for one, later in zip(every, begun_later, strict=True)]
    return tuple(
        Span(key=one.attempt, since=one.since, until=end)
        for one, end in zip(every, ends, strict=True)
        if one.cluster == cluster_id
    )


def _names(store: ResultStore, campaign_id: str, purpose: str) -> list[str]:
    return [name.rpartition("/")[2] for name in store.keys(layout.uses_prefix(campaign_id, purpose))]


def _numbers(names: list[str]) -> list[int]:
    return [int(name.partition(".")[0]) for name in names]


def _use(store: ResultStore, campaign_id: str, purpose: str, number: int, names: list[str]) -> Use:
    use = Use.model_validate_json(store.read(layout.use_key(campaign_id, purpose, number)))
    over = layout.use_over_key(campaign_id, purpose, number)
    if over.rpartition("/")[2] not in names:
        return use
    said = store.read(over).decode()
    return use.model_copy(update={"over": True, "over_at": datetime.fromisoformat(said) if said else None})
