"""Destroy what no live cell owns: by what is really there, never by memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from plimsoll.domain.cluster import Cluster, PartlySeen
from plimsoll.domain.errors import PlimsollError
from plimsoll.ports.provider import Provider
from plimsoll.services.spending import destroy_cluster
from plimsoll.services.toolkit import Toolkit


@dataclass(frozen=True)
class Living:
    """What is alive, of every provider; `unseen` says what could not be looked at, and why."""

    clusters: tuple[Cluster, ...]
    unseen: tuple[str, ...]


@dataclass(frozen=True)
class Reaped:
    """What a pass of the reaper found and did. `failed` are clusters that resisted, each with the reason."""

    destroyed: tuple[Cluster, ...]
    kept: tuple[Cluster, ...]
    failed: tuple[tuple[Cluster, str], ...]
    unseen: tuple[str, ...] = ()

    @property
    def troubles(self) -> tuple[str, ...]:
        """Everything that the pass could not do."""
        return (*(f"{cluster.key}: {why}" for cluster, why in self.failed), *self.unseen)


def on_this_machine(toolkit: Toolkit) -> Toolkit:
    """With the providers alone whose clusters are this machine's: others may belong to another Airflow's campaigns."""
    local = {name: provider for name, provider in toolkit.providers.items() if provider.is_local}
    return replace(toolkit, providers=local)


def living_clusters(toolkit: Toolkit) -> Living:
    """Every cluster alive. A provider, or a part of one, that does not answer does not hide the others."""
    seen = [_seen(provider) for provider in toolkit.providers.values()]
    return Living(
        clusters=tuple(cluster for clusters, _ in seen for cluster in clusters),
        unseen=tuple(why for _, why in seen if why),
    )


def reap(toolkit: Toolkit, is_owned: Callable[[Cluster], bool], *, dry_run: bool = False) -> Reaped:
    """Destroy every cluster that is not owned. A cluster that resists does not keep the others alive."""
    destroyed, kept, failed = [], [], []
    living = living_clusters(toolkit)
    for cluster in living.clusters:
        if is_owned(cluster):
            kept.append(cluster)
        elif (trouble := "" if dry_run else _destroy(toolkit, cluster)) == "":
            destroyed.append(cluster)
        else:
            failed.append((cluster, trouble))
    return Reaped(tuple(destroyed), tuple(kept), tuple(failed), living.unseen)


def _seen(provider: Provider) -> tuple[Sequence[Cluster], str]:
    try:
        return provider.clusters(), ""
    except PartlySeen as error:
        return error.clusters, str(error)
    except PlimsollError as error:
        return (), f"provider {provider.name}: {error}"


def _destroy(toolkit: Toolkit, cluster: Cluster) -> str:
    try:
        destroy_cluster(toolkit, toolkit.providers[cluster.provider], cluster.key, cluster)
    except PlimsollError as error:
        return str(error)
    return ""
