"""The load hosts of a cluster that somebody else runs: what their provider is to know, and what they cost."""

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.adapters.external import ExternalOptions
from plimsoll.adapters.external.options import read_options
from plimsoll.domain.cost import Tariff
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import ProviderError
from plimsoll.domain.system import ProviderChoice
from plimsoll.ports.tariffs import Tariffs


@dataclass(frozen=True)
class LoadHostTariffs:
    """An implementation of the Tariffs port. `of_providers`: a provider of load hosts → its tariffs."""

    of_providers: Mapping[str, Tariffs]

    def tariff(self, definition: Definition) -> Tariff | None:
        """Return the prices of the load hosts; None where they cost nothing. ProviderError for wrong options."""
        options = read_options(definition.provider.options)
        if not isinstance(options, ExternalOptions):
            mend = "correct the definition's provider.options"
            raise ProviderError("; ".join(map(str, options)), where=f"definition {definition.name!r}", mend=mend)
        tariffs = self.of_providers.get(options.load_hosts.provider)
        return tariffs.tariff(load_hosts_alone(definition, options)) if tariffs else None


def load_hosts_alone(definition: Definition, options: ExternalOptions) -> Definition:
    """Return what the provider of the load hosts is to know of the definition: its load hosts and no nodes."""
    choice = ProviderChoice(name=options.load_hosts.provider, options=options.load_hosts.options)
    nodeless = {"provider": choice, "system": definition.system.model_copy(update={"nodes": 0}), "variants": ()}
    return definition.model_copy(update=nodeless)
