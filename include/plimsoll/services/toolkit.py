"""The adapters behind the ports that use-cases work with."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from plimsoll import __version__
from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.part import Part, Setup
from plimsoll.domain.campaign.resolve import hosts_spec
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cost import Tariff
from plimsoll.domain.keys.host_bounds import Disturbance
from plimsoll.domain.keys.process import NodeNeeds
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.domain.text.wording import meant_or_known
from plimsoll.ports.controller import Clock, Owners, UnknownOwners
from plimsoll.ports.host import HostCanary, HostSampler
from plimsoll.ports.load_generator import LoadGenerator
from plimsoll.ports.product import Product
from plimsoll.ports.provider import Places, Provider, Tariffs
from plimsoll.ports.store import ResultStore

_Adapter = TypeVar("_Adapter")


class ClusterPlaces(Protocol):
    """The places where clusters of a provider may be."""

    def of_campaign(self, provider: str, campaign_id: str) -> Places:
        """Return the places where that provider has the campaign's clusters."""

    def known(self, provider: str) -> Places:
        """Return the places where that provider has clusters of any campaign."""


class NoPlaces:
    """An implementation of ClusterPlaces for providers whose clusters are always in the same place."""

    def of_campaign(self, provider: str, campaign_id: str) -> Places:  # noqa: ARG002
        return Places()

    def known(self, provider: str) -> Places:  # noqa: ARG002
        return Places()


@dataclass(frozen=True)
class Toolkit:
    """The adapters by the names that definitions use."""

    store: ResultStore
    clock: Clock
    providers: Mapping[str, Provider]
    products: Mapping[str, Product]
    load_generators: Mapping[str, LoadGenerator]
    sampler: HostSampler
    tariffs: Mapping[str, Tariffs] = field(default_factory=dict)
    """Provider → its tariffs. Hosts of a provider that is not among them cost nothing."""
    canary: HostCanary | None = None
    """The check of hosts; None where hosts are simulated, and there is nothing to check."""
    owners: Owners = field(default_factory=UnknownOwners)
    """Which processes that work at attempts are alive."""
    places: ClusterPlaces = field(default_factory=NoPlaces)
    """The places of clusters whose definition is not at hand."""
    write_kept_records: Callable[[], None] = lambda: None
    """Writes what could not be recorded of hosts until now. Raises StoreError where that fails again."""
    local_notes: Callable[[HostsSpec, Disturbance], Iterable[str]] = lambda *_: ()
    """Notes for a person who is about to measure a definition on this machine."""
    code_version: str = __version__
    """Recorded with attempts and verdicts."""

    def provider(self, asked: Campaign | Part) -> Provider:
        """Return the campaign's provider with its options. Raises Refused when there is no provider with that name."""
        provider = _named(self.providers, "provider", asked.provider.name)
        return provider.at(Places((asked.provider.options,), workload=asked.workload))

    def provider_of(self, name: str, campaign_id: str) -> Provider:
        """Return the provider with that name, looking where the store says that the campaign's clusters may be."""
        return self.providers[name].at(self.places.of_campaign(name, campaign_id))

    def provider_everywhere(self, name: str) -> Provider:
        """Return the provider with that name, looking wherever clusters of any campaign may be."""
        return self.providers[name].at(self.places.known(name))

    def product(self, product: str) -> Product:
        """Return the adapter for that product. Raises Refused when there is none with that name."""
        return _named(self.products, "product", product)

    def load_generator(self, setup: Setup) -> LoadGenerator:
        """Return the campaign's load generator. Raises Refused when there is none with that name."""
        return _named(self.load_generators, "load generator", setup.load_generator.name)

    def tariff(self, asked: Campaign | Part) -> Tariff | None:
        tariffs = self.tariffs.get(asked.provider.name)
        return tariffs.tariff(self.hosts_spec(asked)) if tariffs else None

    def hosts_spec(self, asked: Campaign | Part) -> HostsSpec:
        return hosts_spec(asked, needs_of(self.products, asked))


def needs_of(products: Mapping[str, Product], setup: Setup) -> NodeNeeds:
    """Return what the nodes need, of those products that are known here."""
    known = [(variant, products[name]) for variant in setup.variants if (name := setup.product_of(variant)) in products]
    heaps = {
        variant.id: sum(process.jvm.heap for process in product.processes(variant) if process.jvm)
        for variant, product in known
    }
    ports = sorted({port for _, product in known for port in product.ports})
    return NodeNeeds(tuple(ports), {variant: heap for variant, heap in heaps.items() if heap})


def _named(adapters: Mapping[str, _Adapter], kind: str, name: str) -> _Adapter:
    if name not in adapters:
        mend = meant_or_known(name, adapters, lead="there is")
        raise Refused([Problem(f"{kind} {name!r}", "is not available here", mend)])
    return adapters[name]
