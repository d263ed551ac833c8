from typing import Any

import pytest

from plimsoll.adapters.hosts.sampler import activity, sample
from plimsoll.adapters.providers.local.checks import notes_on
from plimsoll.domain.campaign.resolve import hosts_spec, resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.host_bounds import HostActivity
from plimsoll.domain.keys.process import NodeNeeds

ROOMY = 64e9


def definition(**changes: Any) -> Definition:
    content: dict[str, Any] = {
        "name": "d",
        "title": "D",
        "system": {"version": "4.0.1", "nodes": 3},
        "variants": [{"id": "g1", "jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "512M"}}],
        "loads": ["10/s"],
        "timing": {"duration": "20s", "warmup": "10s"},
    }
    return Definition.model_validate(content | changes)


def told(declared: Definition, *, foreign_cpu: float = 0.02, free: float = ROOMY, heap: int = 512 << 20) -> list[str]:
    now = HostActivity(foreign_cpu, 0.0, None, free, (("yes(77)", foreign_cpu),))
    spec = hosts_spec(resolve(declared), NodeNeeds(heaps={"g1": heap}))
    return list(notes_on(spec, declared.disturbance, now, lambda: "[Errno 13] Permission denied"))


def test_the_nodes_priority_is_told_of_a_calm_machine_and_nothing_else() -> None:
    (only,) = told(definition())
    assert only.startswith("nodes on this machine run at niceness 10")


def test_what_keeps_the_machine_busy_is_told_before_a_measurement() -> None:
    busy = told(definition(), foreign_cpu=0.76)[-1]
    assert busy.startswith("this machine is busy (load ")
    assert busy.endswith(
        "76% in use, 0% stolen): other programs take 76% of its processors (yes(77) 76%); a miss that is measured now "
        "may not count"
    )
    assert len(told(definition(disturbance={"foreign_cpu": "80%"}), foreign_cpu=0.76)) == 1


def test_too_little_free_memory_for_a_cell_is_told() -> None:
    assert told(definition(), free=2e9)[-1].startswith("1907M of memory are free, and a cell may take ")
    assert len(told(definition(), free=8e9)) == 1
    assert len(told(definition(), free=8e9, heap=3 << 30)) == 2
    roomy = definition(provider={"name": "local", "options": {"memory_per_node_overhead": "3G"}})
    assert len(told(roomy, free=8e9)) == 2


def test_cells_that_run_beside_each_other_on_one_machine_are_warned_of() -> None:
    assert "cells that run at the same time disturb each other" in told(definition(max_parallel=2))[-1]


def test_processors_of_their_own_that_nodes_can_not_have_are_told_with_the_reason() -> None:
    asked = definition(provider={"name": "local", "options": {"processors_per_node": 0.4}})
    assert told(asked)[-1] == (
        "`processors_per_node` has no effect here, so nodes share all processors: [Errno 13] Permission denied"
    )


@pytest.mark.parametrize(("others", "known"), [("0.4", 0.4), ("", None)])
def test_a_look_at_a_host_is_one_line_of_the_sampler(others: str, known: float | None) -> None:
    figures = dict.fromkeys(sample.COLUMNS, "0") | {"cpu_others": others, "cpu_throttled": "", "others_top": "a(1)=0.3"}
    found = activity(f"{','.join(figures)}\n{','.join(figures.values())}\n")
    assert found == HostActivity(known, 0.0, None, 0.0, (("a(1)", 0.3),))
