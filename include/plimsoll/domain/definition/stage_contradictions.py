"""Contradictions within the stages of a definition, between the keys that a stage has of its own and those that it has
from the top: loads, strategies, service levels, actions. Each fault is reported at the key to change.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from plimsoll.domain.campaign.campaign import Campaign
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.keys.action import TAKES_NODES, Action
from plimsoll.domain.keys.definition_keys import DefinitionKeys
from plimsoll.domain.keys.faults import Fault
from plimsoll.domain.keys.service_level import meant_percentile
from plimsoll.domain.keys.strategy import FEWEST_CELLS, MOST_LOADS, FullGrid, Threshold
from plimsoll.domain.text.units import format_duration, format_rate
from plimsoll.domain.text.wording import meant_or_known, plural


def repeated(key: str, what: str, values: list[str]) -> Iterator[Fault]:
    """Yield a fault at the last place of each value that stands several times in the list of that key."""
    for value, count in Counter(values).items():
        if count > 1:
            last = len(values) - 1 - values[::-1].index(value)
            path = (key, last) if key == "loads" else (key, last, "id")
            yield Fault(path, f"{what} {value!r} stands {count} times; each must be unique", "change or remove one")


def stages_loads_and_intervals(campaign: Campaign) -> Iterator[Fault]:
    """Yield faults of loads that a stage repeats, and of intervals that do not suit its judged time."""
    parts = [stage.first for stage in campaign.stages]
    for part in parts:
        if "loads" in part.own_keys and part.taken is None:
            for fault in repeated("loads", "load", [format_rate(load) for load in part.loads]):
                yield replace(fault, path=part.path("loads", *fault.path[1:]))
    # Keys that several stages inherit are at fault once.
    yield from dict.fromkeys(
        fault for part in parts for fault in (*_uneven_intervals(part), *_sliding_windows_first(part))
    )


def _uneven_intervals(part: Part) -> Iterator[Fault]:
    """Yield faults where intervals do not divide the judged time: at the service level, or, where only the timing is
    the stage's own, at that.
    """
    judged = part.timing.judged
    is_by_timing = "timing" in part.own_keys and "service_levels" not in part.own_keys
    for number, level in enumerate(part.service_levels):
        if judged % level.interval:
            length, whole = format_duration(level.interval), format_duration(judged)
            what = f"interval {length} does not divide the judged time {whole} (duration less warm-up)"
            at = part.path("timing") if is_by_timing else part.path("service_levels", number, "interval")
            yield Fault(at, what, "change it, or `timing.duration`")


def _sliding_windows_first(part: Part) -> Iterator[Fault]:
    if part.service_levels[0].windows != "aligned":
        what = "the first service level has sliding windows, which overlap"
        why = "charts, causes and statistics need aligned intervals"
        mend = "put the same service level with aligned ones before it"
        yield Fault(part.path("service_levels", 0, "windows"), f"{what}: {why}", mend)


def workloads_of_stages(definition: DefinitionKeys) -> Iterator[Fault]:
    """Yield faults where a stage has a workload that the definition lacks, or that its loads' stage has not."""
    known = {workload.id: workload for workload in definition.workloads}
    stages = {stage.id: stage for stage in definition.stages}
    for number, stage in enumerate(definition.stages):
        for index, name in enumerate(stage.workloads):
            if name not in known:
                what = f"{name!r} is none of the `workloads`"
                yield Fault(("stages", number, "workloads", index), what, meant_or_known(name, known))
        source = stages.get(stage.taken.source) if stage.taken else None
        without = [name for name in known if source and stage.has(name) and not source.has(name)]
        if without:
            what = f"the loads come from stage {stage.taken and stage.taken.source}, which has no {without[0]!r}"
            yield Fault(("stages", number, "workloads"), what, "give both stages the same workloads")


def stages_taken_from(campaign: Campaign) -> Iterator[Fault]:
    """Yield faults where a stage takes its loads from a stage that is not before it, or has no loads of its own."""
    earlier: list[str] = []
    for stage in campaign.stages:
        part, taken = stage.first, stage.first.taken
        if taken and taken.source not in earlier:
            what = f"{taken.source!r} is no stage before this one that has loads of its own"
            mend = meant_or_known(taken.source, earlier) or "put the stage that it is taken from first"
            yield Fault(part.path("loads", "of" if taken.of else "slowest_of"), what, mend)
        if taken is None and "load" in part.knows:
            earlier.append(stage.id)


def closed_loops(campaign: Campaign) -> Iterator[Fault]:
    """Yield faults where something is decided by how a closed loop ended, which is asked less if it can't do more."""
    for part in (stage.first for stage in campaign.stages):
        if "rate" not in part.knows and not isinstance(part.strategy, FullGrid):
            what = f"a {part.strategy.name} asks which loads are carried, which a closed loop can't tell"
            yield Fault(part.path("strategy", "name"), what, "remove `strategy`, or write `loop: open`")


def thresholds(campaign: Campaign) -> Iterator[Fault]:
    """Yield faults where a threshold has too few loads to look between, or too few cells to find anything."""
    for part in (stage.first for stage in campaign.stages):
        if isinstance(part.strategy, Threshold) and {"rate", "load"} <= part.knows:
            yield from _too_few_to_look_between(part, part.strategy)


def _too_few_to_look_between(part: Part, strategy: Threshold) -> Iterator[Fault]:
    cells, fewest = len(part.loads) * part.repeats, min(FEWEST_CELLS, strategy.at_most)
    at, multiples = part.path("loads"), len(strategy.multiples_between(part.loads))
    if part.taken is not None:
        what = "a threshold is looked for between several loads, and this stage takes one from an earlier stage"
        yield Fault(at, what, "write the loads between which it lies, or `strategy: full-grid`")
    elif multiples > MOST_LOADS:
        what = f"a threshold may run any of {multiples:,} loads; {MOST_LOADS:,} are allowed"
        yield Fault(at, what, "write a larger `rounded_to` in `strategy`")
    elif len(part.loads) < 2:
        what = "a threshold is looked for between several loads"
        yield Fault(at, what, "write the lowest and the highest load, and `rounded_to` in `strategy`")
    elif cells < fewest:
        what = f"{plural(cells, 'cell')} of a variant are too few for a threshold"
        mend = f"allow {fewest} or more: more loads, `rounded_to` in `strategy`, or more `repeats`"
        yield Fault(at, what, mend)


def shares_as_percentiles(campaign: Campaign) -> Iterator[Fault]:
    """Yield faults where a percentile is below 1, which no service level is about: a share was meant, such as 0.999."""
    for part in (stage.first for stage in campaign.stages):
        for index, level in enumerate(part.service_levels):
            if meant := meant_percentile(level.percentile):
                what = f"{level.percentile:g} is in per cent: nearly all operations take longer; was {meant} meant?"
                yield Fault(part.path("service_levels", index, "percentile"), what, f"write {meant}")


def action_contradictions(campaign: Campaign) -> Iterator[Fault]:
    """Yield faults of every stage's action. A fault of keys that several stages inherit is given once."""
    yield from dict.fromkeys(fault for part in campaign.parts for fault in _of_stage(part))


def _of_stage(part: Part) -> Iterator[Fault]:
    """Yield the faults of an action with the other keys of its stage."""
    if 0 in part.loads:
        yield from (Fault(part.path(key), what, mend) for key, what, mend in _without_load(part))
    if part.action is not None:
        yield from (Fault(part.path("action", key), what, mend) for key, what, mend in _of_action(part, part.action))
        if part.data_scope == "repeat":
            what = "an action changes the cluster, and this ramp's loads go on with one another's"
            yield Fault(part.path("action"), what, "write `data: fresh` in the strategy, or another strategy")
        if part.timing.stop:
            what = "a load that is ended once it has missed may be over before its action"
            yield Fault(part.path("timing", "stop"), what, "remove it, or write the stage's own `timing`")
        if part.stop_when:
            what = "a load that a rule ends may be over before its action is, which would go on without it"
            yield Fault(("stop_when",), what, "remove it, or the action")
    for number, level in enumerate(part.service_levels):
        if level.during and part.action == part.action_before_load:
            none = "none" if part.action is None else "one that is over before its load"
            what = f"this service level is judged during an action, and its stage has {none}"
            yield Fault(
                part.path("service_levels", number, "during"), what, "remove it, or give the stage another `action`"
            )
        if level.windows == "sliding" and part.action is not None:
            what = "sliding windows overlap, so none lies before, during or after the action alone"
            yield Fault(part.path("service_levels", number, "windows"), what, "write `windows: aligned`")


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
