"""Published campaigns, as their definitions ship."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from tests.support.campaigns.shipped import shipped

from plimsoll.adapters.providers.ec2.instance_types import from_table
from plimsoll.adapters.providers.ec2.options import Ec2Options
from plimsoll.adapters.providers.requested import options_of_request
from plimsoll.bootstrap import definition_folder, full_toolkit
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.hosts.cost import Tariff
from plimsoll.domain.text.errors import DefinitionError, Problem
from plimsoll.services.campaign.open.planning import make_plan
from plimsoll.services.campaign.open.runnable import software_problems
from plimsoll.services.definitions.reference import parse_definition
from plimsoll.settings import Settings

CAMPAIGNS = Path(__file__).parents[3] / "include" / "campaigns"
EVERY = tuple(definition_folder(Settings()).names())
ON_EC2 = [name for name in EVERY if "\nprovider:\n  name: ec2\n" in (CAMPAIGNS / f"{name}.yaml").read_text()]
"""Read off the text: parsing all takes seconds in each process that only collects tests."""
OWN = {"demo", "local-actions", "local-n-1"}
"""Definitions that stand for no publication."""
UNPRICED = {"datastax-2021": {"c5.12xlarge"}, "scylla-2021": {"i3.4xlarge", "c5n.9xlarge"}}
"""By definition: a load generator's host that the publication does not name, and a region beyond the table."""
MISSING = ("is not in the cache", "can't be fetched", "is not built")


def software_problems_of(name: str, cache: Path) -> list[Problem]:
    """Return what databases and load generator object to, where the cache has no artefact."""
    return list(software_problems(full_toolkit(Settings(cache=cache)), shipped(name)))


def tariff_from_table(name: str) -> Tariff:
    """Return the prices of a definition's hosts in the table alone."""
    options = options_of_request(Ec2Options, shipped(name).provider.options, name)
    types = (options.instance_types.node, options.instance_types.load)
    (node, _), (load, _) = (from_table(kind, options.region, options.tenancy) for kind in types)
    return Tariff(node=node, load=load, source="table")


@pytest.mark.parametrize("name", EVERY)
def test_a_shipped_definition_lacks_artefacts_alone(name: str, tmp_path: Path) -> None:
    found = software_problems_of(name, tmp_path)

    assert found
    of_artefacts = [problem for problem in found if problem.what.endswith(MISSING)]
    assert of_artefacts
    others = [str(problem) for problem in found if problem not in of_artefacts]
    assert [one for one in others if "scylla" not in one.lower() or name != "scylla-2021"] == []


def test_scylla_2021_says_what_it_lacks(tmp_path: Path) -> None:
    told = " ".join(map(str, software_problems_of("scylla-2021", tmp_path)))

    assert "JDK openjdk-16.0.1 of variant cassandra-40 can't be fetched" in told
    assert "no registry has ScyllaDB, and the variant names no archive" in told
    for number, action in ((2, "add-node"), (3, "add-node"), (4, "replace-node"), (5, "compact")):
        assert f"stages[{number}].action.name: Plimsoll can't do {action} to scylladb" in told


def test_scylla_2021_has_three_populations_by_three_mixes_and_four_operations() -> None:
    definition = shipped("scylla-2021")
    plan = make_plan(resolve(definition))
    ramps = [one for one in definition.stages if one.action is None]

    assert [len(one.workloads) for one in ramps] == [6, 3]
    assert [(one.id, one.action.name, one.action.spares) for one in definition.stages if one.action] == [
        ("add", "add-node", 1), ("double", "add-node", 3), ("replace", "replace-node", 1), ("compact", "compact", 0),
    ]  # fmt: skip
    assert {cell["action"]["name"] for cell in plan.as_json()["cells"] if cell.get("action")} == {
        "add-node", "replace-node", "compact",
    }  # fmt: skip
    prices = options_of_request(Ec2Options, definition.provider.options, "scylla-2021").prices
    assert plan.host_hours("all") == pytest.approx(plan.hours("all") * 9), "six hosts for nodes are kept, three load"
    assert prices["i3.4xlarge"] < prices["c5n.9xlarge"]


def test_local_scylla_has_one_ramp_and_the_same_operations() -> None:
    published, local = shipped("scylla-2021"), shipped("local-scylla")

    assert [one.action for one in local.stages if one.action is None] == [None]
    assert [(one.id, one.action.name, one.action.count) for one in local.stages if one.action] == [
        (one.id, one.action.name, one.action.count) for one in published.stages if one.action
    ]
    assert make_plan(resolve(local)).load_time < timedelta(hours=1)
    assert "1 of the ramp and of doubling, 2 of the other" in row_of("local-scylla", "repeats")[1]


@pytest.mark.parametrize("name", ["azul-2022-n-1", "local-n-1"])
def test_a_threshold_is_searched_healthy_with_a_node_down_and_while_one_is_replaced(name: str) -> None:
    stages = resolve(shipped(name)).parts
    assert [part.strategy.name for part in stages] == ["threshold"] * 3
    calm, down, replacing = (part.action for part in stages)
    assert calm is None
    assert down is not None
    assert (down.name, down.before_load) == ("kill-node", True)
    assert replacing is not None
    assert replacing.name == "replace-node"
    assert [part.service_levels[0].during for part in stages] == [None, None, "action"]


def test_tlp_2020_has_the_eight_configurations_of_its_publication() -> None:
    definition = shipped("tlp-2020")
    found = [
        (resolve(definition).version_of(one), one.jvm.jdk.rpartition("-")[2], one.jvm.collector, one.jvm.heap >> 30)
        for one in definition.variants
        if one.jvm
    ]

    assert found == [
        ("3.11.6", "8", "CMS", 16),
        ("3.11.6", "8", "G1", 31),
        ("3.11.6", "8", "Shenandoah", 31),
        ("4.0-alpha4", "11.0.13", "CMS", 16),
        ("4.0-alpha4", "14.0.1", "G1", 31),
        ("4.0-alpha4", "11.0.13", "ZGC", 31),
        ("4.0-alpha4", "14.0.1", "ZGC", 31),
        ("4.0-alpha4", "11.0.13", "Shenandoah", 31),
    ]
    assert [one.id for one in definition.variants if "doubtful" in one.title] == ["shenandoah-311"]


def test_tlp_2020_takes_four_loads_for_30_minutes_each() -> None:
    totals = make_plan(resolve(shipped("tlp-2020"))).as_json()["totals"]

    assert (totals["cells"], totals["loads"], totals["cell_hours"]) == (32, 4, 16.0)


def test_the_definitions_on_ec2_are_known_by_their_text() -> None:
    assert [name for name in EVERY if shipped(name).provider.name == "ec2"] == ON_EC2


@pytest.mark.parametrize("name", ON_EC2)
def test_hosts_of_shipped_definitions_have_prices_without_the_pricing_api(name: str) -> None:
    tariff = tariff_from_table(name)

    unpriced = {rate.kind for rate in (tariff.node, tariff.load) if rate.usd_per_hour is None}
    assert unpriced == UNPRICED.get(name, set())


def row_of(name: str, what: str) -> tuple[str, str]:
    """Return what a definition's table says of a thing: as published, and here."""
    published = shipped(name).published
    assert published is not None
    ((_, as_published, here),) = [row.texts for row in published.rows if row.what == what]
    return as_published, here


def keys_of(node: object, path: str = "") -> Iterator[str]:
    """Yield the keys of a YAML document, without indices of lists: `variants.jvm.heap`."""
    if isinstance(node, dict):
        for key, inner in node.items():
            yield from keys_of(inner, f"{path}.{key}".lstrip("."))
    elif isinstance(node, list) and all(isinstance(inner, dict) for inner in node):
        for inner in node:
            yield from keys_of(inner, path)
    else:
        yield path


OF_THE_INSTALLATION = ("connection", "ssh_connection", "zones", "security_group")
NOT_PUBLISHED = {
    *("name", "title", "description", "tags", "control", "seed", "max_parallel", "budget"),
    *("variants.id", "variants.title", "stages.id", "stages.title", "workloads.id"),
    *(f"provider.options.{key}" for key in OF_THE_INSTALLATION),
}
"""Keys that name, order or limit the cells of a campaign, or are the installation's own."""


def test_every_other_shipped_definition_stands_for_a_publication() -> None:
    assert {name for name in EVERY if shipped(name).published is None} == OWN


@pytest.mark.parametrize("name", [name for name in EVERY if name not in OWN])
def test_every_key_of_a_publications_definition_has_a_row_as_published_and_here(name: str) -> None:
    document = YAML(typ="safe", pure=True).load((CAMPAIGNS / f"{name}.yaml").read_text())
    rows = document.pop("published")["rows"]
    keys = {key for key in keys_of(document) if not key.startswith("canary.")} - NOT_PUBLISHED
    if document["provider"]["name"] == "ec2":
        keys -= {"provider.name"}  # instance types tell it
    described = {key for row in rows for key in row.get("keys", ())}

    assert [key for key in sorted(keys) if not any(f"{key}.".startswith(f"{one}.") for one in described)] == []
    assert [one for one in sorted(described) if not any(f"{key}.".startswith(f"{one}.") for key in keys)] == []


@pytest.mark.parametrize("name", [name for name in EVERY if name not in OWN])
def test_loads_and_repeats_of_the_table_are_those_of_the_definition(name: str) -> None:
    definition = shipped(name)
    assert definition.published is not None
    words = {key: row.here or row.published for row in definition.published.rows for key in row.keys}

    numbers = re.findall(r"\d{1,3}(?:,\d{3})*", words["loads"])
    assert {f"{min(definition.loads):,}", f"{max(definition.loads):,}"} <= set(numbers)
    assert str(definition.repeats) in re.findall(r"\d+", words["repeats"])


@pytest.mark.parametrize("name", [name for name in EVERY if name not in OWN])
def test_what_drives_the_load_is_told_though_no_key_holds_it(name: str) -> None:
    published = shipped(name).published
    assert published is not None
    subjects = " ".join(row.what for row in published.rows)

    assert [one for one in ("load generator", "driver", "JVM", "heap of the client") if one not in subjects] == []


def test_azul_2022_says_on_what_the_publications_client_ran() -> None:
    assert "4.0.0m5" in row_of("azul-2022", "load generator")[0]
    assert "Zing" in row_of("azul-2022", "JVM of the client")[0]
    assert "16 GB" in row_of("azul-2022", "heap of the client")[0]
    assert row_of("azul-2022", "heap of the client")[1] == "4 GB"
    assert "intended start" in row_of("azul-2022", "schedule")[1]
    assert row_of("azul-2022", "read share")[1].startswith("20 %")
    assert row_of("azul-2022", "region") == ("not published", "us-east-1")
    assert row_of("azul-2022", "heap of the nodes") == ("40 GB", "as published")


def test_tlp_2020_says_that_it_finds_no_maximum_above_its_highest_rate() -> None:
    definition = shipped("tlp-2020")

    assert f"at most {max(definition.loads):,} ops/s" in row_of("tlp-2020", "highest throughput")[1]
    assert definition.stages == ()


@pytest.mark.parametrize(
    ("rows", "message"),
    [("[{what: heap}]", "says neither what was published nor what is done here"), ("[]", "must not be empty")],
)
def test_a_row_that_says_nothing_is_refused(rows: str, message: str) -> None:
    text = (CAMPAIGNS / "demo.yaml").read_text()
    with pytest.raises(DefinitionError, match=message):
        parse_definition(f"{text}published: {{publication: x, rows: {rows}}}\n", "demo.yaml")


def test_the_plan_of_tlp_2020_names_the_jdks_that_need_an_archive(tmp_path: Path) -> None:
    found = [one for one in software_problems_of("tlp-2020", tmp_path) if one.what.endswith("can't be fetched")]

    assert [(one.where, one.what) for one in found] == [
        ("variants.g1-40.jvm.jdk", "JDK openjdk-14.0.1 of variants g1-40, zgc-40-jdk14 can't be fetched"),
        (
            "variants.shenandoah-311.jvm.jdk",
            "JDK openjdk-shenandoah-8 of variant shenandoah-311 can't be fetched",
        ),
    ]
    assert all("`jvm: {archive: {url: …, sha256: …}}`" in one.mend for one in found)


def test_the_plan_of_tlp_2020_says_what_it_costs() -> None:
    totals = make_plan(resolve(shipped("tlp-2020")), tariff=tariff_from_table("tlp-2020")).as_json()["totals"]

    assert totals["usd_likely"] == pytest.approx(16 * (3 * 0.665 + 0.42))


@pytest.mark.parametrize("name", ["tlp-2020", "local-tlp"])
def test_its_flags_are_the_publication_s(name: str) -> None:
    assert {one.jvm.flag_set for one in shipped(name).variants if one.jvm} == {"tlp-2020"}


def test_the_search_s_share_of_the_grid_is_said_as_its_plan_has_it() -> None:
    text = " ".join((CAMPAIGNS / "azul-2022-search.yaml").read_text().replace("\n#", " ").split())
    totals = make_plan(resolve(shipped("azul-2022-search"))).as_json()["totals"]

    assert f"likely {totals['cells_likely']} of {totals['cells_most']} if they may lie anywhere" in text
    assert totals["cells_most"] == totals["cells"]


def test_datastax_2021_searches_the_maximum_of_three_configurations_with_three_workloads() -> None:
    definition = shipped("datastax-2021")
    found = [(one.jvm.jdk, one.jvm.collector) for one in definition.variants if one.jvm]

    assert found == [("openjdk-8", "CMS"), ("openjdk-8", "CMS"), ("openjdk-16.0.1", "ZGC")]
    assert [one.name for one in definition.workloads] == ["KeyValue", "TimeSeries", "Tabular"]
    assert {one.consistency for one in definition.workloads} == {"LOCAL_QUORUM"}
    assert (definition.system.nodes, definition.load_generator.threads * definition.load_generator.concurrency) == (
        5,
        960,
    )
    assert make_plan(resolve(definition)).as_json()["totals"]["cells_most"] == 270 + 27 + 27


def test_the_heap_of_its_zgc_fits_into_the_large_pages_that_it_asks_for() -> None:
    definition = shipped("datastax-2021")
    jvm = resolve(definition).variant("zgc-40").jvm
    assert jvm is not None
    assert "-XX:+UseLargePages" in jvm.flags
    assert options_of_request(Ec2Options, definition.provider.options, "datastax-2021").huge_pages > jvm.heap


def test_it_says_how_many_rows_its_table_has() -> None:
    tabular = next(one for one in shipped("datastax-2021").workloads if one.name == "Tabular")

    assert "10 million rows (NoSQLBench's file: 10 billion)" in row_of("datastax-2021", "workloads")[1]
    assert "rows" not in (tabular.model_extra or {})


def test_assigned_tokens_are_no_deviation_of_datastax_2021() -> None:
    assert row_of("datastax-2021", "tokens")[1] == "as published"


def test_its_zgc_starts_with_16_gb_of_64() -> None:
    jvm = resolve(shipped("datastax-2021")).variant("zgc-40").jvm
    assert jvm is not None
    assert jvm.initial_heap is not None
    assert (jvm.initial_heap >> 30, jvm.heap >> 30, jvm.flags) == (16, 64, ("-XX:+UseLargePages",))


@pytest.mark.parametrize("name", ["datastax-2021", "local-datastax"])
def test_its_stages_are_the_maximum_a_share_of_it_and_the_slowest_one_s_rate(name: str) -> None:
    stages = shipped(name).stages

    assert [(one.id, one.strategy and one.strategy.name) for one in stages] == [
        ("maximum", "ramp"), ("share", "full-grid"), ("common", "full-grid"),
    ]  # fmt: skip
    assert [str(one.taken) for one in stages[1:]] == ["70 % of maximum", "slowest of maximum"]


def test_local_datastax_has_the_same_shape() -> None:
    published, local = shipped("datastax-2021"), shipped("local-datastax")

    assert [one.id for one in local.variants] == [one.id for one in published.variants]
    assert [(one.id, one.name) for one in local.workloads] == [(one.id, one.name) for one in published.workloads]
    assert local.strategy == published.strategy
