"""Contradictions of an action with the other keys of its stage, and what a definition must say, and can't say, of a
cluster that somebody else runs. Each fault is reported at the key to change.
"""

from collections.abc import Iterator

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.campaign.resolve import stages_of
from plimsoll.domain.keys.action import TAKES_NODES, Action
from plimsoll.domain.keys.definition_keys import DefinitionKeys
from plimsoll.domain.keys.faults import Fault, Path
from plimsoll.domain.keys.system import EXTERNAL
from plimsoll.domain.text.units import format_duration
from plimsoll.domain.text.wording import plural


def action_contradictions(definition: DefinitionKeys, campaign: Campaign) -> Iterator[Fault]:
    """Yield faults of every stage's action. A fault of keys that several stages inherit is given once."""
    faults = (
        fault
        for number, (stage, resolved) in enumerate(stages_of(definition, campaign))
        for part in resolved.parts
        for fault in _of_stage(part, ("stages", number) if stage else (), stage.model_fields_set if stage else set())
    )
    yield from dict.fromkeys(faults)


def _of_stage(part: Part, path: Path, own: set[str]) -> Iterator[Fault]:
    """Yield the faults of the stage at that place, which inherits the keys that are not its `own` from the top."""

    def at(key: str, *rest: int | str) -> Path:
        return (*(path if key in own else ()), key, *rest)

    if 0 in part.loads:
        yield from (Fault(at(key), what, mend) for key, what, mend in _without_load(part))
    if part.action is not None:
        yield from (Fault(at("action", key), what, mend) for key, what, mend in _of_action(part, part.action))
        if part.data_scope == "repeat":
            what = "an action changes the cluster, and this ramp's loads go on with one another's"
            yield Fault(at("action"), what, "write `data: fresh` in the strategy, or another strategy")
        if part.timing.stop:
            what = "a load that is ended once it has missed may be over before its action"
            yield Fault(at("timing", "stop"), what, "remove it, or write the stage's own `timing`")
        if part.stop_when:
            what = "a load that a rule ends may be over before its action is, which would go on without it"
            yield Fault(("stop_when",), what, "remove it, or the action")
    for number, level in enumerate(part.service_levels):
        if level.during and part.action == part.action_before_load:
            none = "none" if part.action is None else "one that is over before its load"
            what = f"this service level is judged during an action, and its stage has {none}"
            yield Fault(at("service_levels", number, "during"), what, "remove it, or give the stage another `action`")
        if level.windows == "sliding" and part.action is not None:
            what = "sliding windows overlap, so none lies before, during or after the action alone"
            yield Fault(at("service_levels", number, "windows"), what, "write `windows: aligned`")


def _without_load(part: Part) -> Iterator[tuple[str, str, str]]:
    """Yield the key, the fault and the mend of what can't stand beside `loads: none`."""
    if "load" in part.knows:
        yield "loads", "0/s stands beside other loads", "remove it, or write `loads: none` in a stage of its own"
    elif part.action is None:
        yield "loads", "without a load nothing is measured", "write a rate, or give the stage an `action`"
    elif part.action.at is not None:
        yield "action", "there is no load that it could begin at a moment of", "remove `at`"
    elif part.strategy.name != "full-grid":
        yield "strategy", f"a {part.strategy.name} goes by loads, and there is none", "write `strategy: full-grid`"


def _of_action(part: Part, action: Action) -> Iterator[tuple[str, str, str]]:
    """Yield the key, the fault and the mend of each key of the action that can't be as it is."""
    begins, nodes = action.begins(part.timing), part.system.nodes
    if begins >= part.timing.duration:
        what = f"the action would begin at {format_duration(begins)}, when the load is over"
        yield "at", what, f"write less than {format_duration(part.timing.duration)}"
    if action.before_load and action.at is not None:
        yield "at", "the action is done before the load, and so at no moment of it", "remove it, or `before_load`"
    if action.down_for and action.name != "kill-node":
        yield "down_for", f"{action.name} says itself when nodes start again", "remove it"
    if action.name in TAKES_NODES and (action.count or 1) >= nodes:
        what = f"{action.name} of {plural(action.count or 1, 'node')} would leave none of the system's {nodes}"
        yield "count", what, f"write less than {nodes}, or more `system.nodes`"
    if action.name not in (*TAKES_NODES, "add-node") and (action.count or 1) > nodes:
        yield "count", f"the system has {plural(nodes, 'node')}", f"write at most {nodes}"
    left = nodes - (action.count or 1)
    if action.name == "decommission" and list(part.workload.faults_with(left)):
        what = f"it would leave {plural(left, 'node')}, fewer than the replicas of each row"
        yield "count", what, "write more `system.nodes`, or a lower `replication_factor`"


_NOT_OURS = "somebody else decides that of an external cluster"


def external_contradictions(campaign: Campaign) -> Iterator[Fault]:
    """Yield the faults of a definition with an external cluster, or with only half of one."""
    if campaign.provider.owns == "cluster":
        if EXTERNAL in campaign.products:
            what = "an external database is reached by the provider of that name alone"
            yield Fault(("provider", "name"), what, f"write `{EXTERNAL}`, with its options")
        return
    yield from _products(campaign)
    yield from _safety(campaign)
    for number, variant in enumerate(campaign.variants):
        for key in ("jvm", "archive", "settings"):
            if getattr(variant, key):
                yield Fault(("variants", number, key), _NOT_OURS, "remove it")
    if campaign.system.settings:
        yield Fault(("system", "settings"), _NOT_OURS, "remove it")


def _products(campaign: Campaign) -> Iterator[Fault]:
    if campaign.products != (EXTERNAL,):
        what = f"Plimsoll deploys {', '.join(campaign.products)}, and nothing is deployed on an external cluster"
        yield Fault(("system", "database"), what, f"write `{EXTERNAL}`, and no `product` in variants")
    if len(campaign.variants) > 1:
        what = "an external cluster is what it is: every variant would be the same"
        yield Fault(("variants",), what, "write one")


def _safety(campaign: Campaign) -> Iterator[Fault]:
    if not campaign.stop_when:
        what = "is missing: people may depend on an external cluster, and a load must end before it harms them"
        mend = "write e.g. `stop_when: [{errors: 5%, within: 10s}, {percentile: 99, above: 1s, within: 30s}]`"
        yield Fault(("stop_when",), what, mend)
    if campaign.max_parallel > 1:
        what = "the cells of an external cluster have one keyspace, one after the other"
        yield Fault(("max_parallel",), what, "write 1")
