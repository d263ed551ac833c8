"""Remarks on a planned campaign for the person who starts it, beside its cells and cost."""

import math
from collections.abc import Iterator
from datetime import datetime, timedelta

from plimsoll.analysis.attempt.few_operations import decided_by_few
from plimsoll.domain.attempt.load_summary import CPU_LIMIT
from plimsoll.domain.campaign.campaign import Campaign, critical_load
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import load_spec, product_spec
from plimsoll.domain.keys.loads import ENOUGH_OPERATIONS, LEAST, load_remarks, rate_tolerance
from plimsoll.domain.keys.strategy import Search
from plimsoll.domain.keys.substitution import with_values
from plimsoll.domain.text.errors import ProviderError, SecretError
from plimsoll.domain.text.units import format_duration, format_rate, format_size
from plimsoll.domain.text.wording import plural
from plimsoll.services.campaign.open.planning import Plan
from plimsoll.services.definitions.documents import Document
from plimsoll.services.hosts.limits import compared, deadline_of
from plimsoll.services.toolkit import Toolkit


def remarks_on(document: Document, toolkit: Toolkit, plan: Plan) -> Iterator[str]:
    """Yield remarks on what is written in a definition's document, then those on the campaign that it plans."""
    yield from load_remarks(with_values(document.content, plan.campaign.values))
    yield from remarks(toolkit, plan)


def remarks(toolkit: Toolkit, plan: Plan) -> Iterator[str]:
    """Yield remarks for a person before the campaign starts, in sentences without a full stop."""
    weeks = plan.load_time / timedelta(weeks=1)
    if weeks >= 1:
        takes = "is likely to take" if plan.is_estimated else "takes at least"
        yield (
            f"it {takes} {weeks:.1f} weeks under load, {plural(plan.parallel, 'cell')} at a time: raise "
            "`max_parallel`, or take fewer loads or repeats, unless that is meant"
        )
    yield from _deadline(plan, toolkit.clock.now())
    if plan.campaign.provider.name in toolkit.providers and toolkit.provider(plan.campaign).is_local:
        yield from toolkit.local_notes(toolkit.hosts_spec(plan.campaign), plan.campaign.disturbance)
    for product in plan.campaign.products:
        if product in toolkit.products:
            yield from toolkit.product(product).unchecked(product_spec(plan.campaign, product))
    yield from _written_to_others(toolkit, plan.campaign)
    yield from dict.fromkeys(decided_by_few(plan.campaign.parts))
    yield from dict.fromkeys(_random_schedules(plan))
    yield from dict.fromkeys(_counted_rows(plan))
    yield from dict.fromkeys(_time_for_populating(plan))
    yield from _early_end(toolkit, plan)
    yield from _shared_data(plan)
    yield from dict.fromkeys(_guards_without_effect(plan))
    yield from dict.fromkeys(note.rstrip(".") for part in plan.campaign.parts if (note := critical_load(part)))
    if plan.campaign.load_generator.name in toolkit.load_generators:
        generator = toolkit.load_generator(plan.campaign)
        specs = [load_spec(part) for part in plan.campaign.parts]
        yield from dict.fromkeys(limit for spec in specs for limit in generator.limits(spec))
        yield from dict.fromkeys(remark for spec in specs for remark in generator.unchecked(spec))
        yield from _too_small_a_load_host(toolkit, plan)


def _deadline(plan: Plan, now: datetime) -> Iterator[str]:
    """Say when the campaign would end by its loads alone, and when it has to."""
    if deadline := deadline_of(plan.campaign, None, now):
        loads = "likely loads" if plan.is_estimated else "loads"
        end = now + plan.load_time
        left_out = ": cells that would end later do not run" if end > deadline else ""
        yield f"begun now, its {loads} alone end {compared(end, deadline)}{left_out}"


def _written_to_others(toolkit: Toolkit, campaign: Campaign) -> Iterator[str]:
    """Say what is written into a database of somebody else, and what of that stays."""
    generator = toolkit.load_generators.get(campaign.load_generator.name)
    if campaign.provider.name not in toolkit.providers or generator is None:
        return
    command = campaign.load_generator.command
    if campaign.provider.owns == "nothing" and command and command.populate:
        yield "what `populate` writes stays there: without `clean_up` nothing is removed"
    try:
        provider = toolkit.provider(campaign)
        if not (keyspace := provider.keyspace()) or not generator.logs_in:
            return
        for part in campaign.parts:
            loads = [cell.load_ops_s for cell in grid(campaign) if cell.part == part.id]
            yield f"{keyspace}: {generator.written(load_spec(part), loads)}"
        if provider.keeps_copies():
            yield (
                f"{keyspace}: nodes with `auto_snapshot`, which Cassandra has by default, keep the rows of every "
                "keyspace that is dropped, as snapshots on their disks, for this release has no option of tables "
                "against that (Cassandra 5.0 has); afterwards clear them on each node: "
                f"`nodetool clearsnapshot --all -- {keyspace}` (3.11: without `--all`)"
            )
    except (ProviderError, SecretError, ValueError):  # what is wrong with the database is among the plan's problems
        return


def _too_small_a_load_host(toolkit: Toolkit, plan: Plan) -> Iterator[str]:
    """Yield loads that need more processors than the load hosts have, where both numbers are known."""
    highest, vcpus = max(cell.load_ops_s for cell in plan.cells), plan.tariff.load.vcpus if plan.tariff else None
    needed = toolkit.load_generator(plan.campaign).processors(highest)
    hosts = plan.campaign.load_generator.hosts
    if not vcpus or needed is None or needed < hosts * vcpus * CPU_LIMIT:
        return
    kind = plan.tariff.load.kind if plan.tariff else "it"
    few = "one load host" if hosts == 1 else plural(hosts, "load host")
    # Always more than the quotient: a load generator that takes exactly CPU_LIMIT counts as at its own limit
    yield (
        f"{few} will not do: {format_rate(highest)} take at least {needed:.1f} processors, as measured, and "
        f"{kind} has {vcpus}; write `hosts: {math.floor(needed / (vcpus * CPU_LIMIT)) + 1}` or more below "
        "load_generator, choose a larger one, or lower the loads"
    )


def _early_end(toolkit: Toolkit, plan: Plan) -> Iterator[str]:
    """Say how many hours it saves to end loads that have missed, where that is possible and saves hours."""
    [stage, *further] = plan.campaign.stages
    part = stage.first
    generator = toolkit.load_generators.get(part.load_generator.name)
    is_possible = generator is not None and generator.can_end_early and part.load_generator.hosts == 1
    if further or part.timing.stop or part.action or not is_possible:
        return
    timing, whole = part.timing, plan.hours("likely")
    shortest = timing.model_copy(update={"stop": "decided"}).shortest(part.service_levels)
    spared = plan.stages[0].estimate.likely_missed * ((timing.duration - shortest) / timedelta(hours=1))
    if spared >= 1:
        yield (
            "`timing: {stop: decided}` ends a load once an interval has missed: about "
            f"{whole - spared:.0f} cell-hours instead of {whole:.0f}, with the same capacities"
        )


def _random_schedules(plan: Plan) -> Iterator[str]:
    """Yield parts with so few operations in a cell that a program's random schedule may be off by more than 1 %."""
    for part in plan.campaign.parts:
        lowest = min(filter(None, part.loads), default=0)
        if part.load_generator.command is None or not lowest:
            continue
        operations = lowest * part.timing.judged.total_seconds()
        tolerance = rate_tolerance(operations)
        if tolerance > LEAST:
            yield (
                f"a cell at {format_rate(lowest)} has {operations:,.0f} operations in its judged time: if the command "
                f"sends at random times, as pgbench does, its rate may be {tolerance:.1%} off by chance; "
                f"{ENOUGH_OPERATIONS:,} operations bring that to {LEAST:.0%}, which here take "
                f"{math.ceil(ENOUGH_OPERATIONS / lowest):,} s"
            )


def _counted_rows(plan: Plan) -> Iterator[str]:
    for part in plan.campaign.parts:
        if (size := part.workload.data_per_node) is not None:
            yield (
                f"how many rows of {part.workload.name} make {format_size(size)} on each node is not known "
                "yet: the campaign's first cell counts it by a sample, and every cell populates as many"
            )


def _time_for_populating(plan: Plan) -> Iterator[str]:
    """Tell how long populating may take, where that is declared, or nobody knows how many rows there will be."""
    for part in plan.campaign.parts:
        timing = part.timing
        longest = format_duration(timing.longest_populating)
        if timing.populating is not None:
            scope = {"cell": "each cell", "repeat": "one cell of each repeat"}[part.data_scope]
            yield f"populating may take {longest} in {scope}, and its hosts live as much longer"
        elif part.workload.data_per_node is not None:
            yield f"populating may take {longest} in each cell: write `timing.populating` for more"


def _shared_data(plan: Plan) -> Iterator[str]:
    if any(part.data_scope == "repeat" for part in plan.campaign.parts):
        yield (
            "the loads of a repeat of the ramp share their data: cells run one at a time, a repeat's loads from the "
            "lowest up, which populates, and a cell that runs again begins with fresh data"
        )


def _guards_without_effect(plan: Plan) -> Iterator[str]:
    """Yield guards that somebody chose for a search without any. Stored definitions hold the usual one in any case."""
    for part in plan.campaign.parts:
        strategy, usual = part.strategy, Search.model_fields["guard"].default
        if isinstance(strategy, Search) and strategy.mode == "exact" and strategy.guard != usual:
            yield (
                f"`guard: {strategy.guard}` has no effect: an exact search runs all loads below a capacity; write "
                "`mode: fast` for a search that guards some of them"
            )
