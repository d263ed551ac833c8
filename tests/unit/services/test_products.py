"""Two products in one campaign, one of them without a JVM: from the plan to the report."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.fakes.installation import Installation
from tests.fakes.instant import Faults, InstantProduct
from tests.fakes.instant.jvmless_product import JVMLESS, JvmlessProduct
from tests.support.campaigns.running import run_missing

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.fingerprint import ProcessFingerprint
from plimsoll.domain.keys.process import NodeNeeds, Process
from plimsoll.domain.keys.variant import Variant
from plimsoll.domain.keys.workload import HBASE
from plimsoll.domain.text.errors import DefinitionError, Refused
from plimsoll.ports.product import Product
from plimsoll.services.campaign.open.planning import make_plan
from plimsoll.services.campaign.open.runnable import problems, require_runnable
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.definitions.reference import parse_definition
from plimsoll.services.judge.evidence import gather
from plimsoll.services.publish.publishing import capacity_rows, pass_gate, publish_report
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.layout import report_key
from plimsoll.services.toolkit import Toolkit, needs_of

TEXT = """
name: products
title: Two products
system: {{database: instant, version: 4.0.1, nodes: 3}}
variants: [{variants}]
loads: [1000/s, 2000/s]
workload: {{{workload}}}
load_generator: {{name: instant}}
timing: {{duration: 20s, warmup: 10s}}
provider: {{name: instant}}
"""
ON_A_JVM = "{id: g1, jvm: {jdk: openjdk-11.0.13, collector: G1, heap: 512M}}"
WITHOUT = f"{{id: plain, product: {JVMLESS}, version: '2.5', settings: {{shards: 2}}}}"
WITHOUT_CQL = WITHOUT.replace(JVMLESS, HBASE)
JVM_CHECKS = {"collector", "heap", "JDK", "JVM flags"}


def text_of(*variants: str, workload: str = "replication_factor: 3") -> str:
    return TEXT.format(variants=", ".join(variants), workload=workload)


def define(*variants: str, workload: str = "replication_factor: 3") -> Definition:
    return parse_definition(text_of(*variants, workload=workload), "products.yaml")


@dataclass(frozen=True)
class Reported:
    """A campaign that ran to its report, and the report's page."""

    tools: Toolkit
    page: str

    def checks_of(self, cell_id: str) -> set[str]:
        verdict = layout.VERDICT.read(self.tools.store, CampaignStore(self.tools.store, "campaign").key(cell_id, 1))
        assert verdict is not None
        return {check.name for check in verdict.checks}


def tools_in(installation: Installation) -> Toolkit:
    own = installation.toolkit
    return replace(
        own, products={**own.products, **{name: JvmlessProduct(installation.faults, name) for name in (JVMLESS, HBASE)}}
    )


def reported(folder: Path, definition: Definition) -> Reported:
    """Run the campaign to its report."""
    installation = Installation(folder)
    tools = tools_in(installation)
    require_runnable(tools, definition)
    installation.open_campaign(definition)
    assert all(ran.verdict and ran.verdict.valid for ran in run_missing(tools, "campaign", "me", print))
    pass_gate(tools, "campaign", [])
    publish_report(tools, "campaign")
    return Reported(tools, tools.store.read(report_key("campaign")).decode())


@pytest.fixture
def tools(tmp_path: Path) -> Toolkit:
    return tools_in(Installation(tmp_path))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """Provide one variant in a JVM, one without. No test changes it."""
    return reported(tmp_path_factory.mktemp("both"), define(ON_A_JVM, WITHOUT))


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """Provide a report without variants in a JVM, of clients that do not speak CQL. No test changes it."""
    return reported(tmp_path_factory.mktemp("without"), define(WITHOUT_CQL, workload="read_share: 0.2"))


@pytest.fixture(scope="module")
def protocols(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """Provide a report on variants whose clients speak two protocols. No test changes it."""
    workload = "consistency: ALL, compression: GZ"
    return reported(tmp_path_factory.mktemp("protocols"), define(ON_A_JVM, WITHOUT_CQL, workload=workload))


def test_both_run_and_are_judged_in_one_campaign(both: Reported) -> None:
    rows = {row["variant"]: row["capacity_ops_s"] for row in capacity_rows(both.tools, "campaign")}
    assert rows == {"g1": 2000, "plain": 2000}
    assert "instant 4.0.1" in both.page
    assert "jvmless 2.5" in both.page
    assert "OpenJDK 64-Bit Server VM" in both.page


def test_checks_of_a_jvm_are_made_of_variants_that_have_one(both: Reported) -> None:
    assert both.checks_of("g1-001k-r1") - both.checks_of("plain-001k-r1") == JVM_CHECKS
    assert {"nodes", "database", "database version"} <= both.checks_of("plain-001k-r1")


def test_the_fingerprint_of_a_product_without_a_jvm_tells_of_none(without: Reported) -> None:
    store = without.tools.store
    fingerprint = layout.FINGERPRINT.read(store, CampaignStore(store, "campaign").key("plain-001k-r1", 1))
    assert fingerprint is not None
    assert {(node.processes, node.database, node.database_version) for node in fingerprint.nodes} == {
        ((ProcessFingerprint(name=HBASE),), HBASE, "2.5")
    }


def test_logs_of_a_product_without_a_jvm_are_read_in_their_hosts_own_zone(without: Reported) -> None:
    """A JVM's GC log says its zone; here the host itself does."""
    store = without.tools.store
    work = AttemptContext(without.tools, CampaignStore(store, "campaign").key("plain-001k-r1", 1))
    manifest = layout.MANIFEST.read(store, work.key)
    assert manifest is not None
    lines = gather(work, manifest).logs.lines
    assert set(lines) == {(f"node{number}", HBASE) for number in (1, 2, 3)}
    assert {line.at for each in lines.values() for line in each} == {datetime(2026, 1, 31, 12, 0, 5, tzinfo=UTC)}


def test_a_report_without_jvms_has_no_section_of_theirs(without: Reported) -> None:
    assert 'id="pauses"' not in without.page
    assert 'href="#pauses"' not in without.page
    assert "<dt>JVM</dt>" not in without.page
    assert 'id="answer"' in without.page


def test_a_campaign_tells_the_options_of_the_protocols_that_its_clients_speak(
    both: Reported, without: Reported, protocols: Reported
) -> None:
    for key in ("consistency", "replication_factor"):
        assert [key in one.page for one in (both, without, protocols)] == [True, False, True]
    for key in ("block_encoding", "compression"):
        assert [key in one.page for one in (both, without, protocols)] == [False, True, True]


def test_a_report_tells_which_clients_have_which_options(both: Reported, protocols: Reported) -> None:
    assert "What clients of each product speak" not in both.page
    assert "consistency ALL, replication_factor 3</td>" in protocols.page
    assert "regions 8, block_encoding NONE, compression GZ</td>" in protocols.page


def test_a_plan_tells_which_clients_have_which_options() -> None:
    plan = make_plan(resolve(define(ON_A_JVM, WITHOUT_CQL, workload="name: KeyValue, regions: 16"))).as_json()
    assert [(one["product"], one["protocol"], one["options"]) for one in plan["clients"]] == [
        ("instant", "cql", {"consistency": "LOCAL_ONE", "replication_factor": 3}),
        (HBASE, "hbase", {"regions": 16, "block_encoding": "NONE", "compression": "NONE"}),
    ]
    assert "clients" not in make_plan(resolve(define(ON_A_JVM, WITHOUT))).as_json()


class TwoJvms(InstantProduct):
    """A node has two JVMs, of which one has a heap of its own, and a program without one."""

    ports: Sequence[int] = (7100, 7000)

    def processes(self, variant: Variant) -> Sequence[Process]:
        assert variant.jvm is not None
        other = variant.jvm.model_copy(update={"heap": 64 << 20})
        return [Process("server", variant.jvm), Process("store", other), Process("gateway")]


def test_nodes_need_the_ports_of_all_products_and_the_heaps_of_all_processes(tools: Toolkit, tmp_path: Path) -> None:
    products: dict[str, Product] = {**tools.products, "instant": TwoJvms(Faults(tmp_path))}

    assert needs_of(products, resolve(define(ON_A_JVM, WITHOUT))) == NodeNeeds((7000, 7100), {"g1": 576 << 20})
    assert needs_of({}, resolve(define(ON_A_JVM))) == NodeNeeds()


def test_a_product_that_runs_in_no_jvm_says_so_when_the_campaign_is_planned(tools: Toolkit) -> None:
    definition = define(f"{{id: plain, product: {JVMLESS}, version: '2.5', {ON_A_JVM[9:]}")

    [problem] = problems(tools, definition)

    assert (problem.where, problem.what) == ("variants[0] (plain).jvm", "jvmless runs in no JVM")


def test_a_product_that_there_is_no_adapter_for_is_told_with_its_variant(tools: Toolkit) -> None:
    definition = define(ON_A_JVM, "{id: other, product: jvmles, version: '2.5'}")

    with pytest.raises(Refused) as refused:
        require_runnable(tools, definition)

    assert "variants[1].product: there is no 'jvmles' here" in str(refused.value)
    assert "did you mean 'jvmless'?" in str(refused.value)


def test_a_product_of_a_variants_own_needs_a_version_of_its_own() -> None:
    with pytest.raises(DefinitionError) as refused:
        define(ON_A_JVM, f"{{id: plain, product: {JVMLESS}}}")

    assert "variants[1].version" in str(refused.value)
    assert "nothing says which version of jvmless variant 'plain' runs" in str(refused.value)


def test_settings_and_version_of_the_system_are_of_its_product_alone() -> None:
    text = text_of(ON_A_JVM, WITHOUT).replace("nodes: 3", "nodes: 3, settings: {tokens: 8}")
    definition = parse_definition(text, "products.yaml")
    on_a_jvm, without = definition.variants

    assert (resolve(definition).settings_of(on_a_jvm), resolve(definition).version_of(on_a_jvm)) == (
        {"tokens": 8},
        "4.0.1",
    )
    assert (resolve(definition).settings_of(without), resolve(definition).version_of(without)) == ({"shards": 2}, "2.5")


def test_variants_may_name_every_version_themselves() -> None:
    text = text_of(ON_A_JVM.replace("id: g1", "id: g1, version: 5.0.9")).replace("version: 4.0.1, ", "")

    assert parse_definition(text, "products.yaml").system.version is None
