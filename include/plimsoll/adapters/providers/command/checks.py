"""Before a cluster is made: whether the programs are there, and whether `list` keeps to the contract. And prices."""

from collections.abc import Sequence

from plimsoll.adapters.providers.command.cloud import Cloud, Login
from plimsoll.adapters.providers.command.options import CommandOptions, read_options
from plimsoll.adapters.providers.command.programs import Programs
from plimsoll.adapters.providers.command.programs import problems as missing
from plimsoll.adapters.providers.requested import checked_options
from plimsoll.adapters.providers.ssh.options import authorized_key
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cost import HostRate, Tariff
from plimsoll.domain.text.errors import Problem, ProviderError, SecretError
from plimsoll.ports.secrets import Secrets


def login_of(secrets: Secrets, connection: str) -> Login:
    """Return who logs in by that connection. Raises SecretError."""
    identity = secrets.ssh_identity(connection)
    return Login(authorized_key(identity, connection), identity.user)


def problems(spec: HostsSpec, programs: Programs, secrets: Secrets, store: str) -> Sequence[Problem]:
    """Return every problem found; no host is made."""
    options = checked_options(CommandOptions, spec.options)
    if isinstance(options, list):
        return options
    obstacles = [*missing(programs, {"launch": options.launch, "list": options.list, "end": options.end})]
    try:
        login_of(secrets, options.connection)
    except SecretError as error:
        obstacles.append(Problem("provider.options.connection", error.headline, error.mend))
    if not obstacles:
        try:
            Cloud(programs, options, store).living()
        except ProviderError as error:
            obstacles.append(Problem("provider.options.list", error.what, error.mend))
    return obstacles


class CommandTariffs:
    """An implementation of the Tariffs port: prices are what the definition says. Hosts may say others of their own."""

    def tariff(self, spec: HostsSpec) -> Tariff:
        prices = read_options(spec.options, f"definition {spec.name!r}").prices
        known = prices.node is not None and prices.load is not None
        source = "provider.options.prices of the definition" if known else "provider.options.prices lacks a price"
        node, load = (
            HostRate(kind=f"{role} host", vcpus=None, usd_per_hour=prices.of(role)) for role in ("node", "load")
        )
        return Tariff(node=node, load=load, source=source)
