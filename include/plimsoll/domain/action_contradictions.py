"""Contradictions between an action and the other keys of its stage. Each fault is reported at the key to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.domain.action import OF_EVERY_NODE, TAKES_NODES, Action
from plimsoll.domain.faults import Fault, Path
from plimsoll.domain.plurals import plural
from plimsoll.domain.strategy import keeps_data
from plimsoll.domain.units import format_duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.domain.definition_keys import DefinitionKeys


def action_contradictions(definition: DefinitionKeys) -> Iterator[Fault]:
    """Yield faults of every stage's action. A fault of keys that several stages inherit is given once."""
    found = (
        fault
        for number, (stage, alone) in enumerate(definition.of_stages)
        for fault in _of_stage(alone, ("stages", number) if stage else (), stage.model_fields_set if stage else set())
    )
    yield from dict.fromkeys(found)


def _of_stage(alone: DefinitionKeys, place: Path, own: set[str]) -> Iterator[Fault]:
    """Yield the faults of the stage at that place, which inherits the keys that are not its `own` from the top."""

    def at(key: str, *rest: int | str) -> Path:
        return (*(place if key in own else ()), key, *rest)

    if alone.action is not None:
        yield from (Fault(at("action", key), what, mend) for key, what, mend in _of_action(alone, alone.action))
        if keeps_data(alone.strategy):
            what = "an action changes the cluster, and this ramp's loads go on with one another's"
            yield Fault(at("action"), what, "write `data: fresh` in the strategy, or another strategy")
        if alone.timing.stop:
            what = "a load that is ended once it has missed may be over before its action"
            yield Fault(at("timing", "stop"), what, "remove it, or write the stage's own `timing`")
        if alone.stop_when:
            what = "a load that a rule ends may be over before its action is, which would go on without it"
            yield Fault(("stop_when",), what, "remove it, or the action")
    for number, level in enumerate(alone.service_levels):
        if level.during and alone.action is None:
            what = "this service level is judged during an action, and its stage has none"
            yield Fault(at("service_levels", number, "during"), what, "remove it, or give the stage an `action`")
        if level.windows == "sliding" and alone.action is not None:
            what = "sliding windows overlap, so none lies before, during or after the action alone"
            yield Fault(at("service_levels", number, "windows"), what, "write `windows: aligned`")


def _of_action(alone: DefinitionKeys, action: Action) -> Iterator[tuple[str, str, str]]:
    """Yield the key, the fault and the mend of each key of the action that can't be as it is."""
    begins, nodes = action.begins(alone.timing), alone.system.nodes
    if begins >= alone.timing.duration:
        what = f"the action would begin at {format_duration(begins)}, when the load is over"
        yield "at", what, f"write less than {format_duration(alone.timing.duration)}"
    if action.count and action.name in OF_EVERY_NODE:
        yield "count", f"{action.name} is done to every node", "remove it"
    if action.name in TAKES_NODES and (action.count or 1) >= nodes:
        what = f"{action.name} of {plural(action.count or 1, 'node')} would leave none of the system's {nodes}"
        yield "count", what, f"write less than {nodes}, or more `system.nodes`"
    if action.name == "restart" and (action.count or 1) > nodes:
        yield "count", f"the system has {plural(nodes, 'node')}", f"write at most {nodes}"
    if action.spares and alone.cluster_scope != "cell":
        what = f"{action.name} needs new hosts, and hosts are kept for the {alone.cluster_scope}"
        yield "name", what, "write `cluster_scope: cell`"
