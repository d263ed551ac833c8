"""Destroy what no live cell owns: by what is really there, never by memory."""

from collections.abc import Callable
from dataclasses import dataclass

from plimsoll.domain.cluster import Cluster
from plimsoll.domain.errors import ProviderError
from plimsoll.ports.provider import Provider
from plimsoll.services.spending import destroy_cluster
from plimsoll.services.toolkit import Toolkit


@dataclass(frozen=True)
class Reaped:
    """What a pass of the reaper found and did."""

    destroyed: tuple[Cluster, ...]
    kept: tuple[Cluster, ...]
    failed: tuple[tuple[Cluster, str], ...]


def living_clusters(toolkit: Toolkit) -> tuple[Cluster, ...]:
    """Every cluster alive, of every provider."""
    return tuple(cluster for provider in toolkit.providers.values() for cluster in provider.clusters())


def reap(toolkit: Toolkit, is_owned: Callable[[Cluster], bool], *, dry_run: bool = False) -> Reaped:
    """Destroy every cluster that is not owned. A cluster that resists does not keep the others alive."""
    destroyed, kept, failed = [], [], []
    for provider in toolkit.providers.values():
        for cluster in provider.clusters():
            if is_owned(cluster):
                kept.append(cluster)
            elif (trouble := "" if dry_run else _destroy(toolkit, provider, cluster)) == "":
                destroyed.append(cluster)
            else:
                failed.append((cluster, trouble))
    return Reaped(tuple(destroyed), tuple(kept), tuple(failed))


def _destroy(toolkit: Toolkit, provider: Provider, cluster: Cluster) -> str:
    try:
        destroy_cluster(toolkit, provider, cluster.key, cluster)
    except ProviderError as error:
        return str(error)
    return ""
