"""Actions in a definition: what they need, and what must not stand beside them."""

from datetime import timedelta
from typing import get_args

import pytest

from plimsoll.domain.campaign.grid import cell_ids
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.action import Action, ActionName
from plimsoll.domain.text.errors import DefinitionError
from plimsoll.services.definitions.reference import dump_definition, parse_definition

TOP = """
name: acted
title: Actions
system: {version: 4.0.1, nodes: 3}
variants: [{id: g1, jvm: {jdk: openjdk-11.0.13, collector: G1, heap: 512M}}]
loads: [1000/s, 2000/s]
timing: {duration: 80s, warmup: 20s}
"""


def parsed(text: str) -> Definition:
    return parse_definition(TOP + text, "acted.yaml")


def fault_of(text: str) -> str:
    with pytest.raises(DefinitionError) as caught:
        parsed(text)
    (problem,) = caught.value.problems
    return str(problem)


def test_a_stage_has_an_action_of_its_own_and_only_its_cells_get_spare_hosts() -> None:
    definition = parsed(
        "stages: [{id: calm}, {id: add, action: {name: add-node, count: 2, at: 30s}, "
        "service_levels: [{during: action}]}]"
    )
    calm, add = resolve(definition).parts
    assert calm.action is None
    assert add.action == Action(name="add-node", count=2, at=timedelta(seconds=30))
    assert (calm.node_hosts, add.node_hosts, resolve(definition).node_hosts) == (3, 5, 5)
    assert str(add.service_levels[0]) == "p99.9 of every 10s interval during the action below 100ms"
    assert parse_definition(dump_definition(definition), "again.yaml") == definition


def test_a_definition_without_an_action_is_written_as_before_there_were_any() -> None:
    text = dump_definition(parsed("stages: [{id: calm}, {id: other}]"))
    assert "action" not in text
    assert "during" not in text


def test_an_action_begins_at_the_end_of_warm_up_unless_told_when() -> None:
    timing = parsed("").timing
    assert Action(name="compact").begins(timing) == timedelta(seconds=20)
    assert Action(name="compact", at=timedelta(0)).begins(timing) == timedelta(0)
    assert Action(name="restart", count=2).sentence(timing) == "restart of 2 nodes, 20s after the start of the load"
    assert Action(name="kill-node", before_load=True).sentence(timing) == "kill-node, before the load begins"


def test_kept_hosts_are_as_many_as_any_stage_needs_and_others_as_many_as_their_own() -> None:
    stages = "stages: [{id: calm}, {id: double, action: {name: add-node, count: 3}}]"
    for scope, shapes in (("cell", [(3, 1), (6, 1)]), ("variant", [(6, 1), (6, 1)])):
        campaign = resolve(parsed(f"cluster_scope: {scope}\n{stages}"))
        assert [campaign.shape_of(stage) for stage in campaign.stages] == shapes


@pytest.mark.parametrize(
    ("action", "down"),
    [
        (Action(name="compact"), ()),
        (Action(name="add-node", count=2), ()),
        (Action(name="restart"), ("a", "b", "c")),
        (Action(name="restart", count=2), ("a", "b")),
        (Action(name="kill-node"), ("c",)),
        (Action(name="replace-node", count=2), ("b", "c")),
        (Action(name="decommission"), ("c",)),
        (Action(name="repair"), ()),
    ],
)
def test_only_the_nodes_that_it_ends_may_be_down(action: Action, down: tuple[str, ...]) -> None:
    assert action.takes_down(("a", "b", "c")) == down


@pytest.mark.parametrize(
    ("action", "changed"),
    [
        (Action(name="compact"), ("a", "b", "c")),
        (Action(name="compact", count=1), ("a",)),
        (Action(name="repair"), ("a",)),
        (Action(name="repair", count=3), ("a", "b", "c")),
        (Action(name="decommission", count=2), ("b", "c")),
        (Action(name="add-node"), ()),
    ],
)
def test_an_action_is_done_to_the_first_nodes_unless_it_ends_them(action: Action, changed: tuple[str, ...]) -> None:
    assert action.changes(("a", "b", "c")) == changed


def test_an_action_can_be_all_that_is_done() -> None:
    definition = parsed("stages: [{id: healthy}, {id: repair, loads: none, action: {name: repair}}]")
    healthy, repair = resolve(definition).parts
    assert (healthy.asks, repair.asks, repair.action_before_load) == ("capacity", "an action", repair.action)
    assert repair.action_sentence == "repair, without a load"
    assert cell_ids(resolve(definition))[-1] == "repair-g1-none-r1"
    assert parse_definition(dump_definition(definition), "again.yaml") == definition


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "stages: [{id: a, loads: none}]",
            "stages[0].loads (line 8): without a load nothing is measured (write a rate",
        ),
        (
            "stages: [{id: a, loads: [0/s, 1/s], action: {name: repair}}]",
            "stages[0].loads (line 8): 0/s stands beside other loads (remove it, or write `loads: none`",
        ),
        (
            "stages: [{id: a, loads: none, action: {name: repair, at: 30s}}]",
            "stages[0].action (line 8): there is no load that it could begin at a moment of (remove `at`)",
        ),
        (
            "stages: [{id: a, loads: none, strategy: search, action: {name: repair}}]",
            "stages[0].strategy (line 8): a search goes by loads, and there is none (write `strategy: full-grid`)",
        ),
        ("action: {name: explode}", "action.name (line 8): is none of the values that can stand here; found 'explode'"),
        (
            "action: {name: compact, at: 80s}",
            "action.at (line 8): the action would begin at 80s, when the load is over (write less than 80s)",
        ),
        ("action: {name: compact, count: 4}", "action.count (line 8): the system has 3 nodes (write at most 3)"),
        (
            "action: {name: compact, at: 30s, before_load: true}",
            "action.at (line 8): the action is done before the load, and so at no moment of it (remove it, or",
        ),
        (
            "action: {name: restart, down_for: 30s}",
            "action.down_for (line 8): restart says itself when nodes start again (remove it)",
        ),
        (
            "action: {name: decommission}",
            "action.count (line 8): it would leave 2 nodes, fewer than the replicas of each row (write more",
        ),
        (
            "action: {name: kill-node, before_load: true}\nservice_levels: [{during: action}]",
            "service_levels[0].during (line 9): this service level is judged during an action, and its stage has one",
        ),
        (
            "action: {name: kill-node, count: 3}",
            "action.count (line 8): kill-node of 3 nodes would leave none of the system's 3 (write less than 3",
        ),
        ("action: {name: restart, count: 4}", "action.count (line 8): the system has 3 nodes (write at most 3)"),
        (
            "cluster_scope: campaign\nstrategy: {name: ramp, data: same}\naction: {name: compact}",
            "action (line 10): an action changes the cluster, and this ramp's loads go on with one another's (write",
        ),
        (
            "service_levels: [{during: action}]",
            "service_levels[0].during (line 8): this service level is judged during an action, and its stage has none",
        ),
        (
            "action: {name: compact}\nservice_levels: [{}, {windows: sliding}]",
            "service_levels[1].windows (line 9): sliding windows overlap, so none lies before, during or after the",
        ),
        (
            "stages: [{id: a, timing: {duration: 80s, warmup: 20s, stop: decided}, action: {name: compact}}]",
            "stages[0].timing.stop (line 8): a load that is ended once it has missed may be over before its action",
        ),
        (
            "action: {name: compact}\nstop_when: [{errors: 5%, within: 10s}]",
            "stop_when (line 9): a load that a rule ends may be over before its action is",
        ),
        (
            "stages: [{id: a}, {id: b, action: {name: restart, count: 9}}]",
            "stages[1].action.count (line 8): the system has 3 nodes",
        ),
    ],
)
def test_what_contradicts_an_action_is_told_at_the_key_to_change(text: str, fault: str) -> None:
    assert fault_of(text).startswith(fault)


@pytest.mark.parametrize("name", get_args(ActionName))
def test_every_action_names_the_condition_of_its_cluster(name: ActionName) -> None:
    one, two = Action(name=name, count=1).condition, Action(name=name, count=2).condition
    assert one.startswith(("while a node ", "with one node "))
    assert "2 nodes" in two
