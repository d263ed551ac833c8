"""Ask a database for whatever would keep a definition's load from it, before anything is loaded.

The load hosts of a cluster that somebody else runs: what their provider is to know, and what they cost.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.adapters.external.database import Database, Databases
from plimsoll.adapters.external.endpoint_options import TheirDatabase, read_options
from plimsoll.adapters.external.keyspaces import is_there, mark_of
from plimsoll.adapters.external.options import ExternalOptions
from plimsoll.adapters.hosts.sampler.counters import listening
from plimsoll.adapters.native_protocol import Session
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cost import Tariff
from plimsoll.domain.keys.process import NodeNeeds
from plimsoll.domain.text.errors import Problem, ProviderError, SecretError
from plimsoll.domain.text.wording import plural
from plimsoll.ports.host import at_once
from plimsoll.ports.provider import Tariffs

_OPTIONS = "provider.options"


def database_problems(declared: int, options: ExternalOptions, databases: Databases) -> Sequence[Problem]:
    """Return every problem found; `declared`: the number of nodes in the definition. Nothing is written there."""
    try:
        database = databases.of(options)
    except SecretError as error:
        return [Problem(f"{_OPTIONS}.connection", error.headline, error.mend)]
    silent = _silent(database, options.contact_points)
    if silent:
        numbers = {node: number for number, node in enumerate(options.contact_points)}
        return [
            Problem(f"{_OPTIONS}.contact_points[{numbers[node]}]", error.headline, error.mend) for node, error in silent
        ]
    return list(_beyond_contact_points(declared, database))


def _silent(database: Database, nodes: Sequence[str]) -> Sequence[tuple[str, ProviderError]]:
    """Return the nodes that can't be used, with the reason. All are asked, since clients would skip the dead."""

    def why_not(node: str) -> ProviderError | None:
        try:
            with database.session(node):
                return None
        except ProviderError as error:
            return error

    return [(node, error) for node, error in zip(nodes, at_once(nodes, why_not), strict=True) if error]


def _beyond_contact_points(declared: int, database: Database) -> Iterator[Problem]:
    options = database.options
    try:
        nodes = database.nodes()
        with database.any_session() as session:
            keyspace = list(_keyspace_problems(session, options))
    except ProviderError as error:
        yield Problem(_OPTIONS, error.headline, error.mend)
        return
    yield from keyspace
    if len(nodes) != declared:
        what = f"the data centre has {plural(len(nodes), 'node')}, and the definition says {declared}"
        yield Problem("system.nodes", what, f"write {len(nodes)}, or wait until all nodes are there")
        return  # nobody knows whom they would be
    addresses = [*options.contact_points, *(node.address for node in nodes)]
    yield from hidden_on_this_machine(options, options.port, addresses)
    others = [node.address for node in nodes if node.address not in options.contact_points]
    allowed = {node for node in others if database.may_be_logged_in_to(node)}
    for node in (node for node in others if node not in allowed):
        what = f"its node {node} is no contact point, and would be sent the password in plain text"
        mend = "write `tls: true`; or add it to the contact points, or its network to `node_networks`"
        yield Problem(f"{_OPTIONS}.node_networks", what, mend)
    for node, why in _silent(database, [node for node in others if node in allowed]):
        yield Problem(f"{_OPTIONS}.data_centre", f"its node {node} can't take its share: {why.what}", why.mend)


def hidden_on_this_machine(options: TheirDatabase, port: int, addresses: Sequence[str]) -> Iterator[Problem]:
    """Yield a problem where the database runs beside the load, and nobody here may see which of the processes it is."""
    if options.load_hosts.provider != "local":
        return
    is_here, processes = listening(f"@{','.join([str(port), *addresses])}")
    if is_here and not processes:
        what = "the database runs on the load's own machine, and its processor time would count as other programs'"
        mend = (
            "let the load come from another host; or run this as the database's user, or as root and not in a container"
        )
        yield Problem(f"{_OPTIONS}.load_hosts", what, mend)


def _keyspace_problems(session: Session, options: ExternalOptions) -> Iterator[Problem]:
    """Yield a problem where the keyspace is there and must not be, or the other way round.

    One with Plimsoll's mark is told apart, by those who know which cells have ended.
    """
    name = options.keyspace_name
    exists = is_there(session, name)
    if options.is_read_only and not exists:
        yield Problem(f"{_OPTIONS}.keyspace.existing", f"there is no keyspace {name!r}", "write the name of one")
    if exists and not options.is_read_only and mark_of(session, name) is None:
        what = f"there is a keyspace {name!r}, which Plimsoll has not made"
        yield Problem(f"{_OPTIONS}.keyspace", what, "name another: it is made, and dropped after each cell")


@dataclass(frozen=True)
class LoadHostTariffs:
    """An implementation of the Tariffs port. `of_providers`: a provider of load hosts → its tariffs."""

    of_providers: Mapping[str, Tariffs]

    def tariff(self, spec: HostsSpec) -> Tariff | None:
        options = read_options(spec.options)
        if isinstance(options, list):
            mend = "correct the definition's provider.options"
            raise ProviderError("; ".join(map(str, options)), where=f"definition {spec.name!r}", mend=mend)
        tariffs = self.of_providers.get(options.load_hosts.provider)
        return tariffs.tariff(load_hosts_alone(spec, options)) if tariffs else None


def load_hosts_alone(spec: HostsSpec, options: TheirDatabase) -> HostsSpec:
    """Return what the provider of the load hosts is asked for: these, and no nodes."""
    return replace(spec, options=options.load_hosts.options, nodes=0, node_hosts=0, needs=NodeNeeds())
