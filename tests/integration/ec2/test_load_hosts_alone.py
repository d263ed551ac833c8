"""Load hosts on EC2 for a database of somebody else: checked, priced, launched without nodes, found and ended."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cloud.cloud import Cloud
from tests.fakes.clock import SteppingClock
from tests.fakes.no_observers import NO_OBSERVERS
from tests.integration.ec2.campaign import STORE
from tests.integration.ec2.watched_account import WatchedAccount

from plimsoll.adapters.external.database import Databases
from plimsoll.adapters.external.options import ExternalOptions
from plimsoll.adapters.providers.ec2 import Ec2Provider, Ec2Tariffs
from plimsoll.adapters.providers.external import ExternalProvider, LoadHostTariffs, Reach
from plimsoll.adapters.providers.external.checks import load_hosts_alone
from plimsoll.adapters.providers.local import LocalProvider
from plimsoll.domain.campaign.resolve import hosts_spec, resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import ClusterRequest
from plimsoll.domain.keys.process import NodeNeeds
from plimsoll.ports.provider import Places, Provider
from plimsoll.services.campaign.open.planning import make_plan
from plimsoll.services.hosts.paid_hosts import StoredLaunches


@pytest.fixture
def theirs(options: dict[str, Any]) -> dict[str, Any]:
    """Provide the options of a definition that reads what is there."""
    return {
        "contact_points": ["10.0.0.11"],
        "data_centre": "dc1",
        "keyspace": {"existing": "shop", "read_only": True},
        "load_hosts": {"provider": "ec2", "options": options},
    }


@pytest.fixture
def definition(theirs: dict[str, Any]) -> Definition:
    reads = {"name": "reads", "share": 1, "statement": "SELECT name FROM people WHERE name = 'Ada'"}
    return Definition.model_validate(
        {
            "name": "staging",
            "title": "Staging",
            "system": {"database": "external", "nodes": 3},
            "variants": [{"id": "staging"}],
            "loads": ["2k/s"],
            "workload": {"name": "cql", "operations": [reads]},
            "timing": {"duration": "1h", "warmup": "10m"},
            "stop_when": [{"errors": "5%", "within": "10s"}],
            "provider": {"name": "external", "options": theirs},
        }
    )


@pytest.fixture
def external(
    account: Any, provider: Ec2Provider, clock: SteppingClock, theirs: dict[str, Any], tmp_path: Path
) -> ExternalProvider:
    hosts_from: dict[str, Provider] = {"local": LocalProvider(tmp_path / "here", clock), "ec2": provider}
    nothing: Any = None
    reach = Reach(Databases(account), endpoints=nothing, set_ups=nothing, clock=clock, store=STORE)
    return ExternalProvider(reach, hosts_from, NO_OBSERVERS).at(Places((theirs,)))


def test_a_load_host_is_launched_without_nodes_found_and_ended(
    external: ExternalProvider,
    ask: Callable[..., ClusterRequest],
    theirs: dict[str, Any],
    cloud: Cloud,
    records: StoredLaunches,
) -> None:
    request = ask().model_copy(update={"options": theirs})

    cluster = external.ensure(request)

    assert [(host.name, host.usd_per_hour, host.facts["load_hosts"]) for host in cluster.hosts] == [
        ("load", 0.34, "ec2")
    ]
    assert external.find(cluster.id) == external.ensure(request) == cluster
    assert [(one.id, one.provider) for one in external.clusters()] == [(cluster.id, "external")]
    assert {launch.account for launch in records.of(cluster.id)} == {external.account()}
    external.destroy(cluster.id)
    assert external.find(cluster.id) is None
    assert not any(cloud.leftovers().values())


def test_its_options_are_checked_and_its_hosts_have_a_price(
    provider: Ec2Provider, account: WatchedAccount, definition: Definition, theirs: dict[str, Any]
) -> None:
    alone = load_hosts_alone(hosts_spec(resolve(definition), NodeNeeds()), ExternalOptions.model_validate(theirs))
    tariff = LoadHostTariffs({"ec2": Ec2Tariffs(account)}).tariff(hosts_spec(resolve(definition), NodeNeeds()))

    assert provider.check(alone) == []
    assert tariff is not None
    assert make_plan(resolve(definition), tariff=tariff).usd == pytest.approx(0.34)


def test_hosts_of_ones_own_cost_nothing(account: WatchedAccount, definition: Definition) -> None:
    options = {**definition.provider.options, "load_hosts": {"provider": "local"}}
    here = definition.model_copy(update={"provider": definition.provider.model_copy(update={"options": options})})

    assert LoadHostTariffs({"ec2": Ec2Tariffs(account)}).tariff(hosts_spec(resolve(here), NodeNeeds())) is None
