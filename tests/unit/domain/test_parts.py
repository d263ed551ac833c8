"""Several workloads in a definition: ids of cells, parts, and what such a definition must not say."""

import pytest
from tests.support.resolved import only_part

from plimsoll.domain.campaign.cell import Scope
from plimsoll.domain.campaign.grid import cells_by_id
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.errors import DefinitionError
from plimsoll.services.definitions.reference import dump_definition, parse_definition

TEXT = """
name: mixed
title: Two workloads
system: {version: 4.0.1}
variants:
- {id: g1, jvm: {jdk: openjdk-11.0.13, collector: G1, heap: 512M}}
- {id: zgc, jvm: {jdk: openjdk-11.0.13, collector: ZGC, heap: 512M}}
loads: [1000/s, 1500/s]
repeats: 2
timing: {duration: 20s, warmup: 10s}
"""
TWO = """
workloads:
- {id: series, name: BasicTimeSeries, read_share: 0.5, partitions: 1k}
- {id: kv, name: KeyValue, keys: 10k}
"""
ONE = "workloads:\n- {id: kv, name: KeyValue, keys: 10k}\n"


def parsed(more: str = TWO) -> Definition:
    return parse_definition(TEXT + more, "mixed.yaml")


def faults_of(text: str) -> str:
    with pytest.raises(DefinitionError) as caught:
        parsed(text)
    return str(caught.value)


def test_cells_of_several_workloads_have_the_workload_in_their_ids_between_variant_and_load() -> None:
    definition = parsed()
    cells = cells_by_id(resolve(definition))
    assert len(cells) == resolve(definition).cells == 16
    assert {"g1-series-001k-r1", "zgc-kv-01500-r2"} <= cells.keys()
    assert (cells["zgc-kv-01500-r2"].workload, cells["zgc-kv-01500-r2"].ladder) == ("kv", "zgc-kv")


def test_ids_and_stored_cells_of_one_workload_stay_as_they_were() -> None:
    for text in ("", ONE):
        cell = cells_by_id(resolve(parsed(text)))["g1-001k-r1"]
        assert cell.model_dump() == {"variant": "g1", "load_ops_s": 1000, "repeat": 1}


def test_a_part_has_its_own_workload_and_no_other() -> None:
    definition = parsed()
    assert [part.id for part in resolve(definition).parts] == ["series", "kv"]
    kv = resolve(definition).part(cells_by_id(resolve(definition))["g1-kv-001k-r1"].part)
    assert kv.workload.name == "KeyValue"
    assert "id" not in kv.workload.model_dump()
    assert kv.workload.model_dump()["keys"] == "10k"
    assert "partitions" not in kv.workload.model_dump(), "an option of another workload"


def test_the_only_part_of_a_definition_needs_no_id() -> None:
    definition = parsed("")
    part = only_part(definition)
    assert (part.id, part.workload, part.loads) == ("", definition.workload, definition.loads)


@pytest.mark.parametrize(("text", "ids"), [("", ()), (ONE, ()), (TWO, ("series", "kv"))])
def test_workloads_have_ids_where_there_are_several(text: str, ids: tuple[str, ...]) -> None:
    assert resolve(parsed(text)).workload_ids == ids


@pytest.mark.parametrize("text", ["", ONE, TWO])
def test_it_is_kept_with_the_key_that_it_uses_alone_and_read_back_the_same(text: str) -> None:
    kept = dump_definition(parsed(text))
    assert ("workloads:" in kept) is bool(text)
    assert ("workload:" in kept) is not bool(text)
    assert parse_definition(kept, "kept") == parsed(text)


def test_workload_beside_workloads_is_refused() -> None:
    assert "stands beside `workloads`" in faults_of(f"workload: {{name: KeyValue}}{TWO}")


def test_two_workloads_of_one_id_are_refused_at_the_second() -> None:
    found = faults_of(TWO.replace("kv", "series"))
    assert "workloads[1].id (line 14): workload id 'series' stands 2 times" in found


def test_pairs_that_would_have_cells_of_the_same_ids_are_refused() -> None:
    text = TEXT.replace("id: zgc", "id: g1-kv")
    with pytest.raises(DefinitionError, match="cells of the same ids, g1-kv-kv"):
        parse_definition(text + "workloads: [{id: kv}, {id: kv-kv}]", "mixed.yaml")


def test_replicas_are_checked_in_each_workload() -> None:
    assert "workloads[1].replication_factor (line 14)" in faults_of(TWO.replace("keys: 10k", "replication_factor: 4"))


def test_the_number_of_cells_counts_workloads() -> None:
    found = faults_of(f"max_cells: 15{TWO}")
    assert "2 variants × 2 workloads × 2 loads × 2 repeats are 16 cells" in found


def test_a_workload_without_an_id_is_refused() -> None:
    assert "workloads[0].id" in faults_of("workloads: [{name: KeyValue}]")


def test_one_of_several_workloads_may_ask_for_a_size_on_disk() -> None:
    workloads = "\nworkloads:\n- {id: kv, name: KeyValue, data_per_node: 12M}\n- {id: rows, name: StandardRow}\n"
    sizes = {part.id: part.workload.data_per_node for part in resolve(parsed(workloads)).parts}
    assert sizes == {"kv": 12 << 20, "rows": None}


@pytest.mark.parametrize(
    ("keys", "data", "turn", "loads"),
    [
        ("", "cell", "stage", (1500,)),
        ("cluster_scope: variant", "cell", "stage", (1500,)),
        ("strategy: ramp\ncluster_scope: variant", "cell", "variant", (1500,)),
        ("strategy: {name: ramp, data: same}\ncluster_scope: variant", "repeat", "cell", (1000, 1500)),
    ],
)
def test_a_part_says_which_cells_share_data_and_which_may_run_together(
    keys: str, data: str, turn: str, loads: tuple[int, ...]
) -> None:
    part = only_part(parsed(keys))
    assert (part.data_scope, part.round_scope, part.loads_on_data_of("g1", 1500)) == (data, turn, loads)


@pytest.mark.parametrize(
    ("keys", "chosen", "needed"),
    [
        ("", "", ""),
        ("strategy: search", "search", "search needs"),
        ("stages: [{id: a}, {id: b}]", "strategies", "strategies need"),
    ],
)
def test_a_campaign_says_what_chooses_its_cells(keys: str, chosen: str, needed: str) -> None:
    campaign = resolve(parsed(keys))
    assert (campaign.chosen_by, campaign.needed_by) == (chosen, needed)


def test_a_cell_agrees_with_all_others_of_its_group_and_with_none_beyond() -> None:
    cells = cells_by_id(resolve(parsed())).values()
    scopes: tuple[Scope, ...] = ("cell", "repeat", "variant", "stage")
    sizes = {scope: len({cell.group(scope) for cell in cells}) for scope in scopes}
    assert sizes == {"cell": 16, "repeat": 8, "variant": 2, "stage": 1}
