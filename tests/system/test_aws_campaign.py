"""The published campaign on AWS, as small as it goes: real clusters over SSH, a store in S3, a real Airflow.

Two cells, one after the other, on three nodes, as the published ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pytest
from tests.support.airflow.cloud_stack import CloudStack, running_cloud_stack
from tests.support.airflow.run_to_report import run_to_report
from tests.support.airflow.secret_search import places_that_tell
from tests.support.campaigns.local_definition import ANY_NOISE
from tests.support.suite.requirements import long, require_namespaces

from plimsoll.bootstrap import load_definition
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.campaign.grid import cell_of
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.campaign.state.reading import valid_verdict
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.layout import report_key
from plimsoll.settings import Settings
from plimsoll.strategies.matrix import running_order

CAMPAIGN = "azul-mine"
NODES = 3
VARIANTS = ("g1", "shenandoah")
HOSTS = NODES + 1
# Two processors for all hosts: C1 alone, since C2 would still be compiling when a cell is over, loads that leave the
# generator room, and a bound that its own stalls don't reach, which would make an attempt invalid.
SMALLER: Mapping[str, Any] = {
    "loads": ["200/s"],
    "repeats": 1,
    "load_generator": {"name": "plimsoll-stress", "threads": 2, "concurrency": 50, "heap": "128M"},
    "timing": {"duration": "15s", "warmup": "5s"},
    "service_levels": [{"percentile": 99.9, "interval": "10s", "below": "5s"}],
    "disturbance": ANY_NOISE,
    "max_parallel": 1,
    "canary": None,  # its floors are those of AWS's hosts
}
GIVE_AWAY = ("PRIVATE KEY-----", "X-Amz-Signature=")
"""What any private key holds, the hosts' own too, and any URL that lets its bearer at the store."""

pytestmark = [pytest.mark.timeout(1800), long("a cell on the same cloud runs without Airflow")]


def small_definition() -> Definition:
    """Return `azul-2022` with these of its variants."""
    published = load_definition(Settings(), "azul-2022").model_dump(mode="json")
    variants = [variant for variant in published["variants"] if variant["id"] in VARIANTS]
    for variant in variants:
        variant["jvm"] |= {"heap": "256M", "flags": ["-XX:TieredStopAtLevel=1"]}
    workload = {**published["workload"], "partitions": "10k", "populate": 100, "replication_factor": NODES}
    system = {**published["system"], "nodes": NODES}
    return Definition.model_validate(
        {**published, **SMALLER, "variants": variants, "workload": workload, "system": system}
    )


@dataclass(frozen=True)
class Campaign:
    """A campaign that has ended, with all that it ran on."""

    definition: Definition
    stack: CloudStack
    stored: CampaignStore

    @property
    def attempts(self) -> list[AttemptKey]:
        """Return one for each cell, and those that this machine spoilt."""
        return [key for cell in running_order(resolve(self.definition)) for key in self.stored.attempts(cell.id)]

    def places_that_tell(self, words: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return where one of the words stands, by kind of place."""
        return places_that_tell(self.stack.airflow, self.stack.store, words)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campaign]:
    """Run once, for all tests."""
    require_namespaces()
    definition = small_definition()
    with running_cloud_stack(tmp_path_factory.mktemp("aws"), [definition]) as stack:
        stored = CampaignStore(stack.store, CAMPAIGN)
        run_to_report(stack.airflow, stored, definition, timeout_s=1500)
        yield Campaign(definition, stack, stored)


def test_it_reaches_its_report_with_a_verdict_for_each_cell(campaign: Campaign) -> None:
    verdicts = [valid_verdict(campaign.stored, cell.id) for cell in running_order(resolve(campaign.definition))]
    assert len(verdicts) == len(VARIANTS)
    assert all(verdict and verdict.operations > 900 for verdict in verdicts)
    assert campaign.stack.store.exists(report_key(CAMPAIGN))


def test_its_nodes_were_what_it_defines(campaign: Campaign) -> None:
    for key in campaign.attempts:
        fingerprint = layout.FINGERPRINT.read(campaign.stack.store, key)
        assert fingerprint is not None
        variant = resolve(campaign.definition).variant(cell_of(resolve(campaign.definition), key.cell_id).variant)
        assert {node.processes[0].jvm.collector for node in fingerprint.nodes} == {variant.jvm.collector}
        assert len({node.facts.provider["instance_id"] for node in fingerprint.nodes}) == NODES


def test_what_its_hosts_fetched_was_staged_once(campaign: Campaign) -> None:
    staged = list(campaign.stack.store.keys(f"{CAMPAIGN}/bundles"))
    names = [PurePosixPath(key).name.rpartition("-")[0] for key in staged]  # behind it stands the content's digest
    jdks = names.count("java-runtime")  # that of the nodes and their tool, and the load generator's
    assert jdks == 2, names
    assert len(names) - jdks == len(set(names)) - 1 == 3, names  # Cassandra, the load generator, the node tool


def test_it_leaves_nothing_in_the_cloud(campaign: Campaign) -> None:
    assert campaign.stack.cloud.summary()["launched"] == HOSTS * len(campaign.attempts)
    assert campaign.stack.cloud.summary()["peak_instances"] == HOSTS
    assert not any(campaign.stack.cloud.leftovers().values()), str(campaign.stack.cloud.leftovers())


def test_its_secrets_are_nowhere(campaign: Campaign) -> None:
    words = [*campaign.stack.secrets.words(), *GIVE_AWAY]
    assert not any((found := campaign.places_that_tell(words)).values()), str(found)
    assert all(campaign.places_that_tell([CAMPAIGN]).values()), "the search finds nothing at all"
