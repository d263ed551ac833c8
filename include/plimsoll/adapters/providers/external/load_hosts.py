"""The load hosts of a cluster that somebody else runs: what their provider is to know, and what they cost."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from plimsoll.adapters.external import ExternalOptions
from plimsoll.adapters.external.database import read_options
from plimsoll.domain.cost import Tariff
from plimsoll.domain.errors import ProviderError
from plimsoll.domain.process import NodeNeeds
from plimsoll.domain.specs import HostsSpec
from plimsoll.ports.tariffs import Tariffs


@dataclass(frozen=True)
class LoadHostTariffs:
    """An implementation of the Tariffs port. `of_providers`: a provider of load hosts → its tariffs."""

    of_providers: Mapping[str, Tariffs]

    def tariff(self, spec: HostsSpec) -> Tariff | None:
        """Return the prices of the load hosts; None where they cost nothing. ProviderError for wrong options."""
        options = read_options(spec.options)
        if not isinstance(options, ExternalOptions):
            mend = "correct the definition's provider.options"
            raise ProviderError("; ".join(map(str, options)), where=f"definition {spec.name!r}", mend=mend)
        tariffs = self.of_providers.get(options.load_hosts.provider)
        return tariffs.tariff(load_hosts_alone(spec, options)) if tariffs else None


def load_hosts_alone(spec: HostsSpec, options: ExternalOptions) -> HostsSpec:
    """Return what the provider of the load hosts is asked for: these, and no nodes."""
    return replace(spec, options=options.load_hosts.options, nodes=0, node_hosts=0, needs=NodeNeeds())
