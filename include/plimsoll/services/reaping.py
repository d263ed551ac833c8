"""Destroy what no live cell owns: by what is really there, never by memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.cluster import Cluster, PartlySeen
from plimsoll.domain.errors import PlimsollError, ProviderError, StoreError
from plimsoll.ports.provider import Provider
from plimsoll.services.campaigns import CampaignStore
from plimsoll.services.spending import destroy_cluster, open_accounts, record_cost
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
    """Destroy every cluster that is not owned, and then put on record what they have cost.

    Neither a cluster that resists nor a store that is out of reach keeps the others alive.
    """
    destroyed, kept, failed = [], [], []
    living, ended_at = living_clusters(toolkit), toolkit.clock.now()
    for cluster in living.clusters:
        if is_owned(cluster):
            kept.append(cluster)
        elif (trouble := "" if dry_run else _destroy(toolkit, cluster)) == "":
            destroyed.append(cluster)
        else:
            failed.append((cluster, trouble))
    unrecorded = () if dry_run else _record(toolkit, destroyed, ended_at)
    return Reaped(tuple(destroyed), tuple(kept), tuple(failed), (*living.unseen, *unrecorded))


def destroy_owned(toolkit: Toolkit, is_owner: Callable[[str], bool]) -> tuple[AttemptKey, ...]:
    """Destroy what shows of an owner's clusters without asking the store, and so without a record of what they cost.

    ProviderError where one stays.
    """
    living = living_clusters(toolkit)
    owned = [cluster for cluster in living.clusters if is_owner(cluster.owner)]
    troubles = [trouble for cluster in owned if (trouble := _destroy(toolkit, cluster))]
    if troubles:
        raise ProviderError("; ".join(troubles), mend="the reaper tries again; or `plimsoll clusters destroy`")
    return tuple(cluster.key for cluster in owned)


def destroy_unseen(toolkit: Toolkit, cluster: str) -> bool:
    """End what an attempt, named `campaign/cell/attempt`, may have without its being shown, and close its account.

    False for one that had no hosts that cost something, or whose account is closed. StoreError, ProviderError.
    """
    try:
        campaign_id, cell_id, attempt = cluster.split("/")
        key = AttemptKey(campaign_id=campaign_id, cell_id=cell_id, attempt=int(attempt))
    except ValueError:
        return False
    campaign = CampaignStore(toolkit.store, campaign_id)
    if key not in open_accounts(campaign):
        return False
    destroy_cluster(toolkit, toolkit.provider(campaign.definition()), key)
    return True


def _seen(provider: Provider) -> tuple[Sequence[Cluster], str]:
    try:
        return provider.clusters(), ""
    except PartlySeen as error:
        return error.clusters, str(error)
    except PlimsollError as error:
        return (), f"provider {provider.name}: {error}"


def _destroy(toolkit: Toolkit, cluster: Cluster) -> str:
    try:
        toolkit.providers[cluster.provider].destroy(cluster.key)
    except PlimsollError as error:
        return str(error)
    return ""


def _record(toolkit: Toolkit, destroyed: Sequence[Cluster], ended_at: datetime) -> tuple[str, ...]:
    """What the clusters have cost. A store that is out of reach is not tried again for each of them."""
    for number, cluster in enumerate(destroyed):
        try:
            record_cost(toolkit, toolkit.providers[cluster.provider], cluster.key, ended_at, cluster)
        except StoreError as error:
            others = ", ".join(str(one.key) for one in destroyed[number + 1 :])
            return (str(error), *([f"nor what these have cost, which are gone too: {others}"] if others else []))
    return ()
