"""Replacement of kept hosts: which were replaced, why, and what the fingerprints of later cells say about it.

A host that died or failed its preflight is replaced alone if the provider can do that. Otherwise its cluster is
retired, and the cluster with the next number replaces it.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AwareDatetime, Field

from plimsoll.domain.hosts.cluster import Cluster, ClusterId
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.ports.store import ReadableStore
from plimsoll.services.store import layout
from plimsoll.services.store.records import Record
from plimsoll.services.toolkit import Toolkit

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
