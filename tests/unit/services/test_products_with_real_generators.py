"""Two products in one campaign, planned and prepared with the load generators that ship, not with fakes of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.artefacts import EmptyArtefacts
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation
from tests.fakes.instant.faults import Faults
from tests.fakes.instant.jvmless_product import JVMLESS, JvmlessProduct
from tests.support.resolved import only_part

import plimsoll
import plimsoll_airflow
from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.generators.cassandra_stress import CassandraStress
from plimsoll.adapters.generators.cassandra_stress.checks import PROGRAM
from plimsoll.adapters.generators.latte import Latte
from plimsoll.adapters.generators.plimsoll_stress import PlimsollStress
from plimsoll.adapters.products.cassandra import Cassandra
from plimsoll.bootstrap import products_with
from plimsoll.domain.campaign.resolve import load_spec, resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.workload import HBASE
from plimsoll.ports.artefacts import ArtefactSource
from plimsoll.services.campaign.open.planning import make_plan
from plimsoll.services.campaign.open.remarks import remarks
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.definitions.reference import parse_definition
from plimsoll.services.toolkit import Toolkit, needs_of

WORKLOADS = {"plimsoll-stress": "BasicTimeSeries", "cassandra-stress": "mixed", "latte": "mixed"}
TEXT = """
name: products
title: Two products
system: {{database: {database}, version: '{version}', nodes: 3}}
variants: [{variants}]
loads: [1000/s]
workload: {{name: {workload}}}
load_generator: {{name: {generator}}}
timing: {{duration: 20s, warmup: 10s}}
provider: {{name: instant}}
"""
ON_A_JVM = "{id: g1, jvm: {jdk: openjdk-11.0.13, collector: G1, heap: 512M}}"
LACKING = {
    "plimsoll-stress": [("load_generator.name", "Plimsoll's own load generator is not built")],
    "cassandra-stress": [("load_generator.name", "cassandra-stress is not in the cache")],
    "latte": [],
}
PREPARED = {"plimsoll-stress": ["load-generator"], "cassandra-stress": [PROGRAM], "latte": []}
WITHOUT = f"{{id: plain, product: {JVMLESS}, version: '2.5'}}"


def both(generator: str) -> Definition:
    """Return a variant of Cassandra, and one of the second product."""
    return _defined(generator, database="cassandra", version="4.0.1", variants=f"{ON_A_JVM}, {WITHOUT}")


def without_cassandra(generator: str) -> Definition:
    return _defined(generator, database=JVMLESS, version="2.5", variants="{id: plain}")


def _defined(generator: str, **words: Any) -> Definition:
    words = {"generator": generator, "workload": WORKLOADS[generator], **words}
    return parse_definition(TEXT.format(**words), "products.yaml")


ARCHIVE = f"{{url: 'https://example.org/scylla.tar.gz', sha256: {'ab' * 32}}}"
SCYLLA = f"{{id: scylla, product: scylladb, version: 4.4.3, archive: {ARCHIVE}}}"


def with_scylla(generator: str) -> Definition:
    """Return a variant of Cassandra, and one of ScyllaDB."""
    return _defined(generator, database="cassandra", version="4.0.1", variants=f"{ON_A_JVM}, {SCYLLA}")


def tools_with(artefacts: ArtefactSource, folder: Path) -> Toolkit:
    """Return Cassandra and the generators as they ship, and the second product."""
    installation = Installation(folder)
    generators = (PlimsollStress(artefacts), CassandraStress(artefacts), Latte())
    return replace(
        installation.toolkit,
        products={
            "cassandra": Cassandra(artefacts, SteppingClock()),
            JVMLESS: JvmlessProduct(installation.faults),
        },
        load_generators={one.name: one for one in generators},
    )


@pytest.mark.parametrize("generator", WORKLOADS)
def test_a_campaign_of_two_products_can_be_planned(tmp_path: Path, generator: str) -> None:
    assert problems(tools_with(EmptyArtefacts(tmp_path / "artefacts"), tmp_path), both(generator)) == ()


@pytest.mark.parametrize("generator", WORKLOADS)
def test_what_an_empty_cache_lacks_is_told_by_those_that_need_it(tmp_path: Path, generator: str) -> None:
    tools = tools_with(Artefacts(tmp_path / "cache", lambda _: None), tmp_path)

    assert [one for one in problems(tools, both(generator)) if "2.5" in one.what] == []
    found = [(one.where, one.what) for one in problems(tools, without_cassandra(generator))]
    assert found == LACKING[generator]


@pytest.mark.parametrize("generator", WORKLOADS)
def test_a_load_generator_prepares_what_it_needs_itself(tmp_path: Path, generator: str) -> None:
    artefacts = EmptyArtefacts(tmp_path / "artefacts")
    tools_with(artefacts, tmp_path).load_generators[generator].prepare(
        load_spec(only_part(without_cassandra(generator)))
    )

    assert artefacts.prepared == PREPARED[generator]


@pytest.mark.parametrize("generator", WORKLOADS)
def test_every_product_of_the_installation_can_be_in_one_campaign(tmp_path: Path, generator: str) -> None:
    artefacts, definition = EmptyArtefacts(tmp_path / "artefacts"), with_scylla(generator)
    tools = replace(tools_with(artefacts, tmp_path), products=products_with(artefacts, SteppingClock()))

    assert problems(tools, definition) == ()
    assert any("ScyllaDB" in remark for remark in remarks(tools, make_plan(resolve(definition))))
    assert needs_of(tools.products, resolve(definition)).ports == (7000, 9042, 9180, 10000, 19042)
    assert needs_of(tools.products, resolve(both(generator))).ports == (7000, 9042)


def of_two_protocols(generator: str, workload: str) -> Definition:
    """Return a variant of Cassandra, and one of HBase."""
    variants = f"{ON_A_JVM}, {{id: plain, product: {HBASE}, version: '2.5'}}"
    return _defined(generator, workload=workload, database="cassandra", version="4.0.1", variants=variants)


def problems_of_two_protocols(folder: Path, generator: str, workload: str) -> list[tuple[str, str]]:
    tools = tools_with(EmptyArtefacts(folder / "artefacts"), folder)
    tools = replace(tools, products={**tools.products, HBASE: JvmlessProduct(Faults(folder), HBASE)})
    return [(one.where, one.what) for one in problems(tools, of_two_protocols(generator, workload))]


@pytest.mark.parametrize("generator", ["cassandra-stress", "latte"])
def test_generators_that_speak_cql_alone_refuse_a_product_of_another_protocol(tmp_path: Path, generator: str) -> None:
    what = f"{generator} speaks cql, and not hbase, as clients of hbase do"
    assert problems_of_two_protocols(tmp_path, generator, "mixed") == [("variants[1].product", what)]


@pytest.mark.parametrize("workload", ["KeyValue", "BatchedRows", "YcsbA", "YcsbE", "YcsbF"])
def test_one_workload_by_key_runs_on_products_of_both_protocols(tmp_path: Path, workload: str) -> None:
    assert problems_of_two_protocols(tmp_path, "plimsoll-stress", workload) == []


def test_a_workload_of_statements_is_refused_for_a_product_of_another_protocol(tmp_path: Path) -> None:
    [(where, what)] = problems_of_two_protocols(tmp_path, "plimsoll-stress", "TimeSeries")
    assert (where, what) == (
        "workload.name",
        "TimeSeries consists of statements of CQL, which hbase does not understand",
    )


def test_plimsolls_own_generator_is_refused_for_a_database_of_which_only_the_definition_knows(tmp_path: Path) -> None:
    command = {"run": "serve {address}", "ready": "true", "version": "true"}
    content = of_two_protocols("plimsoll-stress", "YcsbA").model_dump(mode="json")
    own = Definition.model_validate(
        {
            **content,
            "workload": {"name": "YcsbA"},
            "system": {"database": "command", "version": "1", "nodes": 1, "command": command},
            "variants": [{"id": "v"}],
            "control": None,
        }
    )
    [problem] = PlimsollStress(EmptyArtefacts(tmp_path)).check(load_spec(only_part(own)))
    what = "plimsoll-stress does not speak a protocol of its own, as clients of command do"
    assert (problem.where, problem.what) == ("system.database", what)


def test_a_campaign_of_two_protocols_prepares_the_programs_of_both(tmp_path: Path) -> None:
    artefacts = EmptyArtefacts(tmp_path / "artefacts")
    PlimsollStress(artefacts).prepare(load_spec(only_part(of_two_protocols("plimsoll-stress", "YcsbA"))))
    assert artefacts.prepared == ["load-generator", "load-generator-for-hbase"]


@pytest.mark.parametrize("product", products_with(EmptyArtefacts(Path()), SteppingClock()))
def test_a_product_is_a_folder_that_bootstrap_alone_names(product: str) -> None:
    own = Path(plimsoll.__file__).parent / "adapters" / "products" / product
    sources = [*Path(plimsoll.__file__).parent.rglob("*.py"), *Path(plimsoll_airflow.__file__).parent.rglob("*.py")]
    naming = {path.name for path in sources if own not in path.parents and f"products.{product}" in path.read_text()}

    assert own.is_dir()
    assert naming == {"bootstrap.py"}


def test_products_have_names_kinds_and_processes_of_their_own(tmp_path: Path) -> None:
    products = products_with(EmptyArtefacts(tmp_path / "artefacts"), SteppingClock())
    variants = {
        resolve(definition).product_of(one): one for definition in [with_scylla("latte")] for one in definition.variants
    }
    assert set(products) == {*variants, "hbase", "command"}
    for name, variant in variants.items():
        [process] = products[name].processes(variant)
        assert process.name == name
    for name, product in products.items():
        assert product.name == name
        assert len({kind.id for kind in product.evidence.kinds}) == len(product.evidence.kinds)
