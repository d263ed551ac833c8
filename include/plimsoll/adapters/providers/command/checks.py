"""Before a cluster is made: whether the programs are there, and whether `list` keeps to the contract. And prices."""

from collections.abc import Sequence
from datetime import timedelta

from plimsoll.adapters.providers.command.options import CommandOptions
from plimsoll.adapters.providers.command.programs import MEND_MISSING, Cloud, Login, Programs
from plimsoll.adapters.providers.requested import checked_options, options_of_request, waiting_problems
from plimsoll.adapters.providers.ssh.login import authorized_key
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cost import HostRate, Tariff
from plimsoll.domain.text.errors import Problem, ProviderError, SecretError
from plimsoll.domain.text.units import format_duration
from plimsoll.ports.provider import TIME_TO_DESTROY
from plimsoll.ports.secrets import Secrets

_LONGEST_LAUNCH = TIME_TO_DESTROY - timedelta(minutes=10)
"""The rest is for ending what such a launch brings."""


def login_of(secrets: Secrets, connection: str) -> Login:
    """Return who logs in by that connection. Raises SecretError."""
    identity = secrets.ssh_identity(connection)
    return Login(authorized_key(identity, connection), identity.user)


def problems(spec: HostsSpec, programs: Programs, secrets: Secrets, store: str) -> Sequence[Problem]:
    """Return every problem found; no host is made."""
    options = checked_options(CommandOptions, spec.options)
    if isinstance(options, list):
        return options
    commands = {"launch": options.launch, "list": options.list, "end": options.end}
    missing = {key: why for key, argv in commands.items() if (why := programs.problem(argv[0]))}
    obstacles = [Problem(f"provider.options.{key}", why, MEND_MISSING) for key, why in missing.items()]
    try:
        login_of(secrets, options.connection)
    except SecretError as error:
        obstacles.append(Problem("provider.options.connection", error.headline, error.mend))
    if not obstacles:
        try:
            Cloud(programs, options, store).living()
        except ProviderError as error:
            obstacles.append(Problem("provider.options.list", error.what, error.mend))
    return [*wait_problems(options), *obstacles]


def wait_problems(options: CommandOptions) -> list[Problem]:
    """Return the problems of times that do not fit into those that having and ending hosts may take. Pure."""
    launching, startup = format_duration(options.launch_within), format_duration(options.startup)
    waits = f"{launching} for `launch` and {startup} for its hosts to let us in"
    further, shorter = options.launch_within + options.startup, "`launch_within` or `startup`"
    found = waiting_problems(options.patience, further, waits, shorter)
    if options.launch_within > _LONGEST_LAUNCH:
        allowed, most = format_duration(TIME_TO_DESTROY), format_duration(_LONGEST_LAUNCH)
        what = f"an end waits {launching} for a launch whose answer was lost, but hosts must be gone after {allowed}"
        found.append(Problem("provider.options.launch_within", what, f"write at most {most}"))
    return found


class CommandTariffs:
    """An implementation of the Tariffs port: prices are what the definition says. Hosts may say others of their own."""

    def tariff(self, spec: HostsSpec) -> Tariff:
        prices = options_of_request(CommandOptions, spec.options, f"definition {spec.name!r}").prices
        known = prices.node is not None and prices.load is not None
        source = "provider.options.prices of the definition" if known else "provider.options.prices lacks a price"
        node, load = (
            HostRate(kind=f"{role} host", vcpus=None, usd_per_hour=prices.of(role)) for role in ("node", "load")
        )
        return Tariff(node=node, load=load, source=source)
