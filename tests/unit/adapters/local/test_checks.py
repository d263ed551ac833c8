from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.campaigns.shipped import shipped

from plimsoll.adapters.providers.local.checks import LocalOptions, Machine, memory_needed, needs, problems
from plimsoll.domain.campaign.resolve import hosts_spec, resolve
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.process import NodeNeeds
from plimsoll.domain.text.errors import Problem
from plimsoll.domain.text.units import parse_size

GIB = 1 << 30
ROOMY = Machine(memory=64 * GIB, disk=500 * GIB, processors=8)


def definition(*, heap: str = "512M", nodes: int = 3, parallel: int = 1, options: Any = None) -> Definition:
    return Definition.model_validate(
        {
            "name": "d",
            "title": "D",
            "system": {"version": "4.0.1", "nodes": nodes},
            "variants": [{"id": "g1", "jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": heap}}],
            "loads": ["10/s"],
            "workload": {"replication_factor": 1},
            "timing": {"duration": "20s", "warmup": "10s"},
            "load_generator": {"heap": "256M"},
            "provider": {"name": "local", "options": options or {}},
            "max_parallel": parallel,
        }
    )


def spec(*, options: Any = None) -> HostsSpec:
    return hosts_spec(resolve(definition(options=options)), NodeNeeds())


def found(asked: Definition, machine: Machine, **heaps: int) -> list[Problem]:
    """What is lacking where nodes have these heaps, by variant; without any, the one of each variant's JVM."""
    own = {one.id: one.jvm.heap for one in asked.variants if one.jvm}
    return list(needs(hosts_spec(resolve(asked), NodeNeeds(heaps=heaps or own)), LocalOptions(), machine))


def test_the_demo_fits_a_machine_of_8_gib() -> None:
    assert found(shipped("demo"), Machine(memory=8 * GIB, disk=10 * GIB, processors=2)) == []


@pytest.mark.parametrize(("heap", "parallel"), [("256M", 1), ("1G", 1), ("512M", 2)])
def test_the_memory_that_is_needed_is_the_least_that_is_not_refused(heap: str, parallel: int) -> None:
    asked = definition(heap=heap, parallel=parallel)
    least = memory_needed(
        hosts_spec(resolve(asked), NodeNeeds(heaps={"small": 1 << 20, "g1": parse_size(heap)})), LocalOptions()
    )
    machine = Machine(memory=least, disk=500 * GIB, processors=8)
    assert found(asked, machine) == []
    assert found(asked, replace(machine, memory=least - 1))


def test_a_roomy_machine_has_no_problem() -> None:
    assert found(definition(), ROOMY) == []


def test_a_heap_larger_than_the_machine_is_refused_with_what_is_found_and_allowed() -> None:
    [problem] = found(definition(heap="40G"), Machine(memory=24 * GIB, disk=500 * GIB, processors=8))
    assert problem.where == "variants.g1.jvm.heap"
    assert "40960M is larger than this machine's memory of 24576M" in problem.what
    assert "a heap of 6826M at most" in problem.mend  # (24G - 2G - 512M) / 3 - 512M


def test_what_is_allowed_is_accepted_and_more_is_not() -> None:
    machine = Machine(memory=24 * GIB, disk=500 * GIB, processors=8)
    assert found(definition(heap="6826M"), machine) == []
    assert len(found(definition(heap="6828M"), machine)) == 1


def test_the_heaps_of_all_processes_of_a_node_count() -> None:
    machine = Machine(memory=8 * GIB, disk=500 * GIB, processors=8)
    assert found(definition(heap="1G"), machine, g1=1 * GIB) == []
    [problem] = found(definition(heap="1G"), machine, g1=3 * GIB)
    assert "a cell of 3 nodes of 3072M heap would take" in problem.what
    assert found(definition(heap="1G"), machine, other=0) == []


def test_cells_at_once_count_together() -> None:
    machine = Machine(memory=8 * GIB, disk=500 * GIB, processors=8)
    assert found(definition(parallel=1), machine) == []
    [problem] = found(definition(parallel=2), machine)
    assert "2 cells at once of 3 nodes" in problem.what


def test_a_machine_too_small_for_any_heap_is_not_told_one() -> None:
    [problem] = found(definition(), Machine(memory=1 * GIB, disk=500 * GIB, processors=8))
    assert problem.mend.startswith("use fewer nodes")


def test_too_little_disk_is_refused() -> None:
    [problem] = found(definition(parallel=2), Machine(memory=64 * GIB, disk=5 * GIB, processors=8))
    assert "need 6144M of free disk, the work folder's has 5120M" in problem.what


def test_more_nodes_than_a_subnet_holds_are_refused() -> None:
    machine = Machine(memory=9000 * GIB, disk=9000 * GIB, processors=8)
    assert [problem.where for problem in found(definition(nodes=300), machine)] == ["system.nodes"]


@pytest.mark.parametrize(("of_each", "allowed"), [(0.5, True), (0.51, False)])
def test_nodes_leave_processors_to_the_load(of_each: float, *, allowed: bool) -> None:
    asked = hosts_spec(resolve(definition()), NodeNeeds())
    machine = Machine(memory=64 * GIB, disk=500 * GIB, processors=2)
    problems_found = list(needs(asked, LocalOptions(processors_per_node=of_each), machine))
    assert [problem.where for problem in problems_found] == [] if allowed else ["provider.options.processors_per_node"]
    assert allowed or problems_found[0].mend.startswith("give at most 0.50 to each")


def test_an_option_that_is_none_is_refused_with_those_that_are(tmp_path: Path) -> None:
    [problem] = problems(spec(options={"memory": "1G"}), tmp_path)
    assert problem.where == "provider.options.memory"
    assert "memory_per_node_overhead" in problem.mend


def test_an_option_of_the_wrong_form_is_refused_with_what_was_found(tmp_path: Path) -> None:
    [problem] = problems(spec(options={"disk_per_node": 5}), tmp_path)
    assert problem.where == "provider.options.disk_per_node"
    assert "5 needs a unit" in problem.what


def test_a_work_folder_that_can_not_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "work").write_text("a file")
    where = {problem.where for problem in problems(spec(), tmp_path / "work" / "clusters")}
    assert f"work folder {tmp_path / 'work' / 'clusters'}" in where


def test_a_work_folder_that_others_could_change_is_refused(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    [problem] = [
        one for one in problems(spec(), tmp_path / "shared" / "clusters") if one.where.startswith("work folder")
    ]
    assert problem.what == (
        f"can't be used: other users may write to {tmp_path / 'shared'}: `chmod go-w {tmp_path / 'shared'}`, "
        "or use another folder"
    )
    assert "PLIMSOLL_WORK" in problem.mend


@pytest.mark.parametrize("name", [name for name in LocalOptions.model_fields if name != "processors_per_node"])
def test_options_are_sizes_with_units(name: Any) -> None:
    assert getattr(LocalOptions.model_validate({name: "3G"}), name) == parse_size("3G")
