"""Records of what attempts use: kept hosts, as numbered files below `clusters/<purpose>/uses/`, and a database of
somebody else, a file for each attempt until what it made there is destroyed.

Whoever looks for clusters that were left logs in only where there is such a file.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AwareDatetime, Field

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cluster import ClusterId, SetUp
from plimsoll.domain.hosts.cost import Span
from plimsoll.domain.hosts.owner import owner_since
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import ProviderError
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.hosts.at_rest import stirred
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import StoredCampaign
from plimsoll.services.store.listing import campaign_exists
from plimsoll.services.store.records import Place, Record

_TIME = "%Y%m%dT%H%M%S-%fZ"


class Assignment(Model):
    """One attempt's time on kept hosts."""

    attempt: AttemptKey
    owner: Annotated[str, Field(description="Token of whoever runs the attempt")]
    cluster: ClusterId
    since: AwareDatetime
    until: Annotated[AwareDatetime, Field(description="When the attempt is over at the latest")]
    over: Annotated[bool, Field(description="Whether it has ended; a file of its own says so")] = False
    over_at: Annotated[AwareDatetime | None, Field(description="When it ended, where that is on record")] = None


ASSIGNMENT = Record("clusters/<hosts>/uses/<number>.json", Assignment)
OVER = Place("clusters/<hosts>/uses/<number>.<time>.over")
OF_ATTEMPT = Record("use.json", Assignment)


def assignment_of(store: ReadableStore, key: AttemptKey) -> Assignment | None:
    """Return the attempt's time on kept hosts; None where it has used none yet."""
    return OF_ATTEMPT.read(store, key)


def newest_assignment(store: ReadableStore, campaign_id: str, purpose: str) -> tuple[int, Assignment | None]:
    """Return the newest use of hosts kept for that purpose, with its number; 0 and None where there was none."""
    return next(_newest_first(store, campaign_id, purpose), (0, None))


def assignment_before(store: ReadableStore, key: AttemptKey, purpose: str) -> Assignment | None:
    """Return the newest use of hosts kept for that purpose by another attempt; None where there was none."""
    uses = _newest_first(store, key.campaign_id, purpose)
    return next((use for _, use in uses if use.attempt != key), None)


def assignment_under_way(store: ReadableStore, cluster_id: ClusterId) -> Assignment | None:
    """Return the current use of that kept cluster; None where nobody uses it."""
    _, newest = newest_assignment(store, cluster_id.campaign_id, cluster_id.purpose)
    return newest if newest is not None and not newest.over and newest.cluster == cluster_id else None


def require_assignment(store: ReadableStore, key: AttemptKey) -> None:
    """Raise ProviderError where the attempt had kept hosts and must not touch them any more.

    Its process may have stalled, such as on a computer that slept, until others took it for dead.
    """
    use = assignment_of(store, key)
    newest = newest_assignment(store, key.campaign_id, use.cluster.purpose)[1] if use else None
    if newest is None or (newest.attempt == key and not newest.over):
        return
    others = f"its hosts were given to attempt {newest.attempt} of {owner_since(newest.owner, newest.since)}"
    what = "it has given back its hosts" if newest.attempt == key else others
    raise ProviderError(what, where=str(key), mend="run the cell again")


def assignments(store: ReadableStore, campaign_id: str, purpose: str) -> tuple[Assignment, ...]:
    """Return all uses of hosts kept for that purpose, in order. It takes one listing and a read per use."""
    return tuple(use for _, use in _newest_first(store, campaign_id, purpose))[::-1]


def end_assignment(store: ResultStore, campaign_id: str, purpose: str, number: int, at: datetime) -> None:
    """Record the end of the use. After several calls the first time counts."""
    name = OVER.key(campaign_id, purpose, number, at.astimezone(UTC).strftime(_TIME))
    store.create(name, at.isoformat().encode())


def spans(every: Sequence[Assignment], cluster_id: ClusterId) -> tuple[Span, ...]:
    """Return the time of each attempt on that cluster. `every` has all uses of the cluster's purpose, in order.

    A use without a recorded end ended when the next one began.
    """
    begun_later = (*(use.since for use in every[1:]), None)[: len(every)]
    ends = [use.over_at or later for use, later in zip(every, begun_later, strict=True)]
    return tuple(
        Span(key=use.attempt, since=use.since, until=end)
        for use, end in zip(every, ends, strict=True)
        if use.cluster == cluster_id
    )


def _newest_first(store: ReadableStore, campaign_id: str, purpose: str) -> Iterator[tuple[int, Assignment]]:
    """Yield each use with its number. Each is read when it is asked for."""
    files: dict[int, list[str]] = {}
    for file in store.keys(ASSIGNMENT.folder(campaign_id, purpose)):
        files.setdefault(int(file.rpartition("/")[2].partition(".")[0]), []).append(file)
    for number in sorted(files, reverse=True):
        use = ASSIGNMENT.at(store, ASSIGNMENT.key(campaign_id, purpose, number))
        ended = [file.split(".")[-2] for file in files[number] if file.endswith(".over")]
        ends = [datetime.strptime(text, _TIME).replace(tzinfo=UTC) for text in ended]
        yield number, use.model_copy(update={"over": True, "over_at": min(ends)}) if ends else use


def note_used(store: ResultStore, cluster_id: ClusterId) -> None:
    """Record that the cluster is about to use its database."""
    with stirred(store, cluster_id.campaign_id):
        store.create(layout.DATABASE.key(cluster_id.campaign_id, *_names(cluster_id)), b"")


def note_left(store: ResultStore, cluster_id: ClusterId) -> None:
    """Record that nothing of the cluster is left in its database."""
    store.delete(layout.DATABASE.key(cluster_id.campaign_id, *_names(cluster_id)))


def is_used(store: ReadableStore, campaign_id: str) -> bool:
    """Tell whether a cluster of the campaign may have something in its database."""
    return any(True for _ in store.keys(layout.DATABASE.folder(campaign_id)))


def users(store: ReadableStore, campaign_id: str) -> tuple[ClusterId, ...]:
    """Return the campaign's clusters that may have something in its database. Raises ValueError for other files."""
    prefix = layout.DATABASE.folder(campaign_id)
    return tuple(ClusterId.parse(f"{campaign_id}{key.removeprefix(prefix)}") for key in store.keys(prefix))


def times_of_use(store: ResultStore, campaign_id: str) -> dict[ClusterId, datetime]:
    """Return since when, by the store's clock, those clusters may have it. Files of others are passed over."""
    prefix, times = layout.DATABASE.folder(campaign_id), dict[ClusterId, datetime]()
    for file in store.listed(prefix):
        with suppress(ValueError):
            times[ClusterId.parse(f"{campaign_id}{file.key.removeprefix(prefix)}")] = file.changed_at
    return times


class StoredSetUps:
    """An implementation of the SetUps port: a file for each cluster."""

    def __init__(self, store: ResultStore) -> None:
        self._store = store

    def settle(self, cluster_id: ClusterId, set_up: SetUp) -> SetUp:
        return layout.SET_UP.settle(self._store, cluster_id.campaign_id, set_up, *_names(cluster_id))

    def of(self, cluster_id: ClusterId) -> SetUp | None:
        return layout.SET_UP.read(self._store, cluster_id.campaign_id, *_names(cluster_id))

    def forget(self, cluster_id: ClusterId) -> None:
        self._store.delete(layout.SET_UP.key(cluster_id.campaign_id, *_names(cluster_id)))


def _names(cluster_id: ClusterId) -> tuple[str, int]:
    return cluster_id.purpose, cluster_id.number


def may_have_left(campaign: StoredCampaign, cluster_id: ClusterId) -> bool:
    """Tell whether the attempt of that cluster was on a database of somebody else, whatever became of it."""
    key = cluster_id.attempt
    if key is None or not campaign_exists(campaign.store, campaign.campaign_id):
        return False
    return campaign.declared().provider.owns != "cluster" and layout.ATTEMPT.read(campaign.store, key) is not None
