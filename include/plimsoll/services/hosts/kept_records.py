"""What is on record of kept hosts: which attempts use them, which were replaced, and why, and what the fingerprints of
later cells say about it.

Uses are numbered files below `clusters/<purpose>/uses/`. A host that died or failed its preflight is replaced alone if
the provider can do that. Otherwise its cluster is retired, and the cluster with the next number replaces it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AwareDatetime, Field

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cluster import Cluster, ClusterId
from plimsoll.domain.hosts.cost import Span
from plimsoll.domain.hosts.owner import owner_since
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.errors import ProviderError
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.store import layout
from plimsoll.services.store.layout import Place, Record
from plimsoll.services.toolkit import Toolkit

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


GONE = "hosts of it were gone"


class Replacement(Model):
    """Hosts of a cluster that died or were unfit, and the hosts that replaced them while the others lived on.

    `gone` and `fresh` have the hosts' identities: instance ids, or else addresses. Names such as `node2` would not do,
    because hosts get them by their order, which may change with a replacement.
    """

    gone: tuple[str, ...]
    fresh: tuple[str, ...]
    reasons: Annotated[
        LeftOutIfEmpty[tuple[str, ...]], Field(description="Why hosts were replaced that lived; empty: they died")
    ] = ()
    at: AwareDatetime

    def __str__(self) -> str:
        died, were = "" if self.reasons else "died and ", "was" if len(self.gone) == 1 else "were"
        why = f" ({'; '.join(self.reasons)})" if self.reasons else ""
        return f"{_listed(self.gone)} {died}{were} replaced by {_listed(self.fresh)}{why}"


class Unfit(Model):
    """Living hosts of a cluster that must not be used again: the reason of each, by the host's identity."""

    reasons: dict[str, str]
    at: AwareDatetime


class Retirement(Model):
    """Why a cluster is not used any more."""

    reason: str
    at: AwareDatetime


REPLACED = Record("replaced/<number>.json", Replacement)
UNFIT = Record("unfit/<number>.json", Unfit)
RETIRED = Record("retired.json", Retirement)


def note_provided(toolkit: Toolkit, cluster: Cluster) -> bool:
    """Record that the cluster is provisioned with these hosts. If it can't be found later, it counts as lost.

    True where the provider has replaced some of its hosts since the last record. The replacement is recorded first, so
    that the fingerprints of all later cells name it.
    """
    store, before = toolkit.store, layout.CLUSTER.read(toolkit.store, cluster.id)
    was, now = (_hosts_of(before) if before else set[str]()), _hosts_of(cluster)
    has_changed = bool(was) and was != now
    if has_changed:
        unfit = unfit_hosts(store, cluster.id)
        replacement = Replacement(
            gone=tuple(sorted(was - now)),
            fresh=tuple(sorted(now - was)),
            reasons=tuple(unfit[name] for name in sorted(was - now) if name in unfit),
            at=toolkit.clock.now(),
        )
        REPLACED.create(store, cluster.id, replacement, REPLACED.newest_number(store, cluster.id) + 1)
    layout.CLUSTER.write(store, cluster.id, cluster)
    return has_changed


def note_unfit(toolkit: Toolkit, cluster_id: ClusterId, reasons: Mapping[str, str]) -> None:
    """Record hosts, by identity, that the next provisioning of the cluster is to replace."""
    unfit = Unfit(reasons=dict(reasons), at=toolkit.clock.now())
    UNFIT.create(toolkit.store, cluster_id, unfit, UNFIT.newest_number(toolkit.store, cluster_id) + 1)


def unfit_hosts(store: ReadableStore, cluster_id: ClusterId) -> dict[str, str]:
    """Explain why each unfit host must not be used again, by identity. Hosts that were replaced since are included."""
    return _reasons(UNFIT.read_all(store, cluster_id))


def unfit_hosts_of_campaign(store: ReadableStore, campaign_id: str) -> frozenset[str]:
    """Return identities of all hosts that were unfit in any kept cluster of the campaign."""
    keys = store.keys(layout.KEPT_CLUSTERS.folder(campaign_id))
    return frozenset(_reasons(UNFIT.at(store, key) for key in keys if PurePosixPath(key).match("*/unfit/*.json")))


def retire(toolkit: Toolkit, cluster_id: ClusterId, reason: str) -> None:
    """Have another cluster replace this one from the next use on. A second call does not change the recorded reason."""
    RETIRED.create(toolkit.store, cluster_id, Retirement(reason=reason, at=toolkit.clock.now()))


def retirement_of(store: ReadableStore, cluster_id: ClusterId) -> Retirement | None:
    """Explain why the cluster is not used any more; None where it still may be."""
    return RETIRED.read(store, cluster_id)


def is_given_up(store: ReadableStore, cluster: Cluster) -> bool:
    """Tell whether the cluster, or a host that it has there, is not to be used again."""
    unfit = unfit_hosts(store, cluster.id).keys()
    return retirement_of(store, cluster.id) is not None or not unfit.isdisjoint(_hosts_of(cluster))


def why_replaced(store: ReadableStore, cluster_id: ClusterId) -> str:
    """Explain why the cluster replaced the one before it, and which of its hosts were replaced since.

    Empty for the first cluster of a purpose while it has its first hosts.
    """
    before = cluster_id.number - 1
    retirement = retirement_of(store, cluster_id.numbered(before)) if before else None
    # In order of time. A process that was killed between its two records has written one twice.
    replaced = dict.fromkeys(map(str, sorted(REPLACED.read_all(store, cluster_id), key=lambda record: record.at)))
    return "; ".join([*([retirement.reason] if retirement else []), *replaced])


def _reasons(records: Iterable[Unfit]) -> dict[str, str]:
    return {name: why for record in records for name, why in record.reasons.items()}


def _hosts_of(cluster: Cluster) -> set[str]:
    return {host.identity for host in cluster.hosts}


def _listed(names: Sequence[str]) -> str:
    """Join names as `a`, `a and b`, `a, b and c`."""
    *others, last = names or ("none",)
    return f"{', '.join(others)} and {last}" if others else last
