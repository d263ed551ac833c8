"""The data that every step of an attempt needs: its key, and what the store and the adapters tell about it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from plimsoll.domain.attempt.populated_data import DataOrigin
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.cell import Attempt, AttemptKey, Cell
from plimsoll.domain.campaign.grid import cells_by_id
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.campaign.resolve import load_spec, variant_spec
from plimsoll.domain.campaign.specs import LoadSpec, VariantSpec
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, HostInfo
from plimsoll.domain.keys.variant import Variant
from plimsoll.domain.text.errors import NotFound, PlimsollError, ProviderError
from plimsoll.domain.text.wording import meant
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadGenerator
from plimsoll.ports.product import Product
from plimsoll.ports.provider import Provider
from plimsoll.ports.store import ResultStore
from plimsoll.services.hosts.kept_hosts import living_or_recorded
from plimsoll.services.hosts.kept_records import assignment_of, require_assignment
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit


@dataclass(frozen=True)
class AttemptContext:
    """One attempt and its surroundings. Each property reads the store at most once."""

    toolkit: Toolkit
    key: AttemptKey

    @property
    def store(self) -> ResultStore:
        return self.toolkit.store

    @cached_property
    def campaign(self) -> CampaignStore:
        return CampaignStore(self.store, self.key.campaign_id)

    @cached_property
    def resolved(self) -> Campaign:
        return self.campaign.resolved()

    @cached_property
    def cell(self) -> Cell:
        """Return the attempt's cell. Raises NotFound when the campaign has no such cell."""
        return require_cell(self.resolved, self.key.cell_id)

    @cached_property
    def part(self) -> Part:
        """Return the part of the campaign by which the cell is run and judged."""
        return self.resolved.part(self.cell.part)

    @cached_property
    def load_spec(self) -> LoadSpec:
        return load_spec(self.part)

    @cached_property
    def variant_spec(self) -> VariantSpec:
        return variant_spec(self.part, self.variant)

    @property
    def variant(self) -> Variant:
        return self.part.variant(self.cell.variant)

    @property
    def cluster_id(self) -> ClusterId:
        use = assignment_of(self.store, self.key) if self.keeps_hosts else None
        return use.cluster if use else ClusterId.of_attempt(self.key)

    @property
    def keeps_hosts(self) -> bool:
        """Tell whether the attempt's hosts live on when the attempt is over."""
        return self.part.cluster_scope != "cell"

    @property
    def origin(self) -> DataOrigin | None:
        """Return whose data the attempt runs on; None where loads share none, and before that is decided."""
        is_shared = self.part.data_scope == "repeat"
        return layout.ORIGIN.read(self.store, self.key) if is_shared else None

    @property
    def goes_on(self) -> bool:
        """Tell whether the load runs on the data of an earlier attempt."""
        origin = self.origin
        return origin is not None and bool(origin.earlier)

    @property
    def environment(self) -> str:
        """Return the name of the attempt's own environment on its hosts; empty where they serve no other attempt."""
        return self.key.environment if self.keeps_hosts else ""

    @property
    def data_environment(self) -> str:
        """Return the name of the environment on the nodes that holds the database and its data."""
        origin = self.origin
        return origin.environment(self.key) if origin else self.environment

    @property
    def environments(self) -> frozenset[str]:
        """Return everything that kept hosts may have of the attempt while it lasts; empty where none are kept."""
        return frozenset({self.key.environment, self.data_environment} if self.keeps_hosts else ())

    def deployed(self, cluster: Cluster) -> tuple[HostInfo, ...]:
        """Return the hosts on which nodes are deployed; the others stay empty until an action needs them."""
        return cluster.nodes[: self.part.system.nodes]

    def nodes(self, cluster: Cluster) -> list[Host]:
        """Return access to the deployed nodes of the attempt's cluster, in the folder of their data."""
        return self.node_hosts(cluster)[: self.part.system.nodes]

    def node_hosts(self, cluster: Cluster) -> list[Host]:
        """Return access to all hosts for nodes of the attempt's cluster, in the folder of their data."""
        environment = self.data_environment
        return [self.provider.host(cluster, info, environment) for info in cluster.nodes]

    def hosts(self, cluster: Cluster, infos: Iterable[HostInfo]) -> list[Host]:
        """Return access to these hosts of the cluster, in the attempt's own folder on each."""
        return [self.provider.host(cluster, info, self.environment) for info in infos]

    @property
    def provider(self) -> Provider:
        return self.toolkit.provider(self.part)

    @cached_property
    def product(self) -> Product:
        return self.toolkit.product(self.part.product_of(self.variant)).at(self.part.provider.options)

    @property
    def load_generator(self) -> LoadGenerator:
        return self.toolkit.load_generator(self.part)

    def attempt(self) -> Attempt:
        """Return the attempt's own record. Raises NotFound when there is none."""
        attempt = layout.ATTEMPT.read(self.store, self.key)
        if attempt is None:
            raise NotFound("there is no such attempt", where=str(self.key))
        return attempt

    def cluster(self) -> Cluster:
        """Return the attempt's cluster, as `living` tells it.

        Raises ProviderError where it is gone, or was given to another attempt. Whoever has waited asks again.
        """
        if self.keeps_hosts:
            require_assignment(self.store, self.key)
        cluster = self.living()
        if cluster is None:
            raise ProviderError(f"the cluster is gone{self.why_gone()}", where=str(self.key), mend="run the cell again")
        return cluster

    def living(self) -> Cluster | None:
        """Return the attempt's cluster if it lives and is whole; the one on record where the provider can't tell.

        Raises as `living_or_recorded`.
        """
        return living_or_recorded(self.store, self.key, lambda: self.provider.find(self.cluster_id))

    def why_gone(self) -> str:
        """Return the provider's words on why hosts of the cluster are gone, after a colon. Else empty."""
        try:
            reason = self.provider.why_gone(self.cluster_id)
        except PlimsollError:  # nothing depends on it
            return ""
        return f": {reason}" if reason else ""

    def time_left(self) -> timedelta:
        """Return the time until the hosts expire, recorded at their provisioning, as a cloud may lag."""
        cluster = layout.CLUSTER.read(self.store, self.key) or self.cluster()
        return cluster.expires_at - self.toolkit.clock.now()


def require_cell(campaign: Campaign, cell_id: str) -> Cell:
    """Return the cell with that id. Raises NotFound, with the form of ids, when there is none."""
    cells = cells_by_id(campaign)
    if cell_id not in cells:
        mend = f"{meant(cell_id, cells)} `plimsoll plan {campaign.name} --json` lists the cells".strip()
        raise NotFound(f"has no cell {cell_id!r}", where=f"definition {campaign.name!r}", mend=mend)
    return cells[cell_id]
