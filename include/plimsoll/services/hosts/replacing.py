"""Kept hosts that were replaced: which, why, and what later cells are to say of it.

Where a provider can, a host that died is replaced alone. Else, and where hosts are not fit to be used again, their
cluster is retired, and the next of its number takes its place.
"""

from pydantic import AwareDatetime

from plimsoll.domain.base import Model
from plimsoll.domain.cluster import Cluster, ClusterId
from plimsoll.domain.errors import NotFound
from plimsoll.ports.store import ResultStore
from plimsoll.services.hosts.launches import read_provided
from plimsoll.services.store import layout
from plimsoll.services.toolkit import Toolkit

GONE = "hosts of it were gone"


class Replacement(Model):
    """Hosts of a cluster died, and others have taken their place; the rest of it lives on.

    Instances, or addresses of what is none: names are given in an order that may change with the hosts.
    """

    gone: tuple[str, ...]
    fresh: tuple[str, ...]
    at: AwareDatetime

    def __str__(self) -> str:
        return f"{', '.join(self.gone)} died, replaced by {', '.join(self.fresh)}"


class Retirement(Model):
    """Why a cluster is used no more."""

    reason: str
    at: AwareDatetime


def note_provided(toolkit: Toolkit, cluster: Cluster) -> bool:
    """Put the cluster on record: it was whole once, so that it counts as lost where it can't be found any more.

    True where it has other hosts than when it was provided last: some died, and the provider made it whole again. That
    is on record first, so that the fingerprints of all later cells say so.
    """
    store, before = toolkit.store, read_provided(toolkit.store, cluster.id)
    was, now = (_hosts_of(before) if before else set[str]()), _hosts_of(cluster)
    has_changed = bool(was) and was != now
    if has_changed:
        replacement = Replacement(gone=_sorted(was - now), fresh=_sorted(now - was), at=toolkit.clock.now())
        number = len(tuple(store.keys(layout.replaced_prefix(cluster.id)))) + 1
        store.create(layout.replaced_key(cluster.id, number), replacement.model_dump_json(indent=1).encode())
    store.write(layout.cluster_key(cluster.id), cluster.model_dump_json(indent=1).encode())
    return has_changed


def retire(toolkit: Toolkit, cluster_id: ClusterId, reason: str) -> None:
    """Have another cluster take its place from the next use on. The first reason stays."""
    retirement = Retirement(reason=reason, at=toolkit.clock.now())
    toolkit.store.create(layout.retired_key(cluster_id), retirement.model_dump_json(indent=1).encode())


def retirement_of(store: ResultStore, cluster_id: ClusterId) -> Retirement | None:
    """Why that cluster is used no more; None for one that still may be."""
    try:
        return Retirement.model_validate_json(store.read(layout.retired_key(cluster_id)))
    except NotFound:
        return None


def why_replaced(store: ResultStore, cluster_id: ClusterId) -> str:
    """Why the cluster took the place of the one before it, and which of its hosts were replaced since.

    Empty for the first of its kind while it has the hosts that it began with.
    """
    before = cluster_id.number - 1
    found = retirement_of(store, cluster_id.numbered(before)) if before else None
    replaced = dict.fromkeys(map(str, _replacements(store, cluster_id)))
    return "; ".join([*([found.reason] if found else []), *replaced])


def _replacements(store: ResultStore, cluster_id: ClusterId) -> list[Replacement]:
    """In the order in which they happened. Who was killed between the two records has noted the same twice."""
    files = store.keys(layout.replaced_prefix(cluster_id))
    return sorted((Replacement.model_validate_json(store.read(file)) for file in files), key=lambda one: one.at)


def _hosts_of(cluster: Cluster) -> set[str]:
    return {host.facts.get("instance_id") or host.address for host in cluster.hosts}


def _sorted(names: set[str]) -> tuple[str, ...]:
    return tuple(sorted(names))
