"""`plimsoll plan`, its output for people, and `plimsoll schema`."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Annotated

import typer

from plimsoll.cli.output import DefinitionArgument, JsonOption, SetOption, print_json, print_table, print_text
from plimsoll.domain.campaign.campaign import clients_of
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.keys.parameters import values_line
from plimsoll.domain.keys.strategy import Threshold
from plimsoll.domain.keys.variant import Download
from plimsoll.domain.text.errors import ProviderError, Refused
from plimsoll.domain.text.units import format_duration, show_usd
from plimsoll.domain.text.wording import figure, plural, some_of
from plimsoll.services.campaign.open.planning import Plan, download_lines, downloads, make_plan
from plimsoll.strategies.stage_plans import BOUNDS, StagePlan, shown_loads

_ParallelOption = Annotated[
    int | None,
    typer.Option(min=1, help="Number of cells that run at the same time; by default the definition's `max_parallel`."),
]


def plan(
    definition: DefinitionArgument,
    values: SetOption = None,
    parallel: _ParallelOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a definition against this machine and show what its campaign takes. Starts nothing.

    If the definition is wrong or can't run here, the command names every problem at the end and exits with 2. It still
    shows what the campaign would take, as far as this is known. Without credentials for the provider a note says what
    could not be checked; that alone is no problem.
    """
    from plimsoll.bootstrap import build_toolkit, load_document
    from plimsoll.services.campaign.open.creation import requested_definition
    from plimsoll.services.campaign.open.remarks import remarks_on
    from plimsoll.services.campaign.open.request import values_set
    from plimsoll.services.campaign.open.runnable import problems_known_here
    from plimsoll.settings import Settings

    settings = Settings()
    document, toolkit = load_document(settings, definition), build_toolkit(settings)
    declared = requested_definition(document, values_set(values))
    campaign = resolve(declared)
    problems, notes = problems_known_here(toolkit, declared)
    located = document.located(problems)
    refused = Refused(located, where=f"definition {declared.name!r}")
    try:
        planned = make_plan(campaign, parallel=parallel, tariff=toolkit.tariff(campaign))
    except ProviderError as error:  # options that can't be read have no price, and are among the problems
        raise (refused if located else error) from error
    notes += remarks_on(document, toolkit, planned)
    needed = downloads(toolkit, campaign)
    if as_json:
        software = [download.model_dump() for download in needed]
        remarks_json = {"downloads": software, "notes": notes, "problems": [str(problem) for problem in located]}
        print_json({**planned.as_json(), **remarks_json})
    else:
        show(planned, notes, needed)
    if located:
        raise refused


def schema(
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the reference for people, in Markdown, instead.")
    ] = False,
) -> None:
    """Print the JSON schema of definitions, for editors and other tools."""
    from plimsoll.adapters.generators.plimsoll_stress.catalogue import own_statement_tables
    from plimsoll.services.definitions.reference import definition_reference, definition_schema

    if markdown:
        typer.echo(definition_reference(own_statement_tables()), nl=False)
    else:
        print_json(definition_schema())


def show(plan: Plan, notes: Sequence[str], needed: Sequence[Download] = ()) -> None:
    campaign = plan.campaign
    print_text(f"{campaign.title} ({campaign.name})")
    if campaign.parameters:
        print_text(f"Parameters: {values_line(campaign.parameters)}")
    for stage in plan.stages:
        _show_stage(stage)
    first, scope = [cell.id for cell in plan.first[:4]], campaign.cluster_scope
    hosts = plural(plan.hosts, "host") + ("" if scope == "cell" else f" kept for the {scope}")
    time = f"{'likely' if plan.is_estimated else 'at least'} {timedelta(seconds=round(plan.load_time.total_seconds()))}"
    print_text(
        f"{_counts(plan)}\n"
        f"{_hours(plan.hours('all'), plan.host_hours('all'))}\n"
        f"{plural(plan.at_once, 'cell')} at a time: {hosts}, {time} under load\n"
        f"First: {', '.join(first)}{' …' if len(plan.cells) > len(first) else ''}"
    )
    if published := campaign.published:
        columns = ("what", "as published", "here")
        print_table(f"{published.publication}, and here", columns, [row.texts for row in published.rows])
    for line in (
        *(f"{str(client)[0].upper()}{str(client)[1:]}" for client in clients_of(campaign.parts)),
        *_tries(plan),
        *_search(plan),
        *_money(plan),
        *_approval(plan),
        *download_lines(needed),
        *(f"Note: {note}." for note in notes),
    ):
        print_text(line)


def _show_stage(plan: StagePlan) -> None:
    """Show a stage's service levels, and its variants by loads. A definition without stages is shown as one stage."""
    stage, part = plan.stage, plan.stage.first
    if stage.id:
        print_text(f"\nStage {stage.id}" + (f": {part.stage_title}" if part.stage_title != stage.id else ""))
    has_load, loads = "load" in part.knows, shown_loads(part)
    for level in part.service_levels if has_load else ():
        print_text(f"Service level: {level}")
    if part.action:
        print_text(f"Action: {part.action_sentence}")
    named = [stage_part.workload_id for stage_part in stage.parts]
    axes = [(variant.id, name) if len(named) > 1 else (variant.id,) for name in named for variant in part.variants]
    names = ("variant", "workload")[: len(axes[0])]
    rows = [(*axis, *(f"×{part.repeats}" for _ in loads)) for axis in axes]
    if isinstance(part.strategy, Threshold):
        most = part.cells // len(part.variants)
        print_text(f"Loads: {some_of(loads)}; at most {most} cells of each {' and '.join(names)}")
    else:
        print_table("Variants × loads, repeats in each square", (*names, *(loads if has_load else ["no load"])), rows)
    if stage.id:
        length = format_duration(plan.duration)
        cells = f"{plural(stage.cells, 'cell')} of {length} ({part.strategy.name})"
        print_text(f"{cells}: {_hours(plan.hours('all'), plan.host_hours('all'))}")


def _counts(plan: Plan) -> str:
    """Return the number of cells, and the numbers that it is the product of."""
    campaign, named = plan.campaign, plan.campaign.workload_ids
    cells = plural(campaign.cells, "cell")
    if len(plan.stages) > 1:
        return f"\n{cells} in {plural(len(plan.stages), 'stage')}, which run one after the other"
    workloads = f"{plural(len(named), 'workload')} × " if named else ""
    part = campaign.stages[0].first
    loads = f"{plural(len(shown_loads(part)), 'load')} × " if "load" in part.knows else ""
    of_one = f"{loads}{plural(part.repeats, 'repeat')}"
    if isinstance(part.strategy, Threshold):
        of_one = f"at most {part.cells // len(part.variants)} cells"
    return f"{cells}: {plural(len(campaign.variants), 'variant')} × {workloads}{of_one}"


def _hours(cells: float, hosts: float) -> str:
    """Return hours of all cells under load, and of all their hosts: in tenths, short ones to three digits."""
    shown = [f"{round(hours, 1):,.10g}" if hours >= 10 else figure(hours) for hours in (cells, hosts)]
    return f"{shown[0]} cell-hours under load, {shown[1]} host-hours"


def _tries(plan: Plan) -> Iterator[str]:
    """Tell how often a cell runs by itself that noise disturbs, if more than once."""
    again = plan.campaign.disturbance.tries - 1
    if again:
        often = "once" if again == 1 else f"{again} times"
        yield f"A cell that noise of the machine disturbs runs again by itself, {often} at most: not counted here"


def _search(plan: Plan) -> Iterator[str]:
    """Yield the part of the grid that a search or ramp runs, and the hours where loads end early; else nothing."""
    if not plan.is_estimated:
        return
    estimate = plan.estimate
    if plan.campaign.chosen_by:
        who = (
            "Its strategies run" if len(plan.stages) > 1 else f"The {plan.campaign.stages[0].first.strategy.name} runs"
        )
        fewer = f"{estimate.least} to " if estimate.least < estimate.most else ""
        yield f"{who} {fewer}{estimate.most} of them, likely {estimate.likely}:"
    if plan.ends_early:
        yield "Loads end once an interval has missed. If misses show in the first intervals:"
    for bound in BOUNDS:
        hours = _hours(plan.hours(bound), plan.host_hours(bound))
        money = "" if plan.tariff is None else f", {show_usd(plan.usd_of(bound))}"
        yield f"  {bound}: {plural(getattr(estimate, bound), 'cell')}, {hours}{money}"


def _money(plan: Plan) -> Iterator[str]:
    """Yield the cost; nothing where hosts cost nothing."""
    if plan.tariff is None:
        return
    rates = [f"{rate.kind} {show_usd(rate.usd_per_hour)}/h" for rate in (plan.tariff.node, plan.tariff.load)]
    vcpus = "" if plan.vcpus is None else f", {plural(plan.vcpus, 'vCPU')} at once"
    is_more = any(stage.stage.beyond_loads(1) for stage in plan.stages)
    when = ", with all the time that it gives to waiting and populating" if is_more else " under load"
    yield f"Estimated cost of the hosts{when}: {_estimate(plan)} ({', '.join(rates)}){vcpus}"
    if plan.usd_of_populating:
        timings = [part.timing for part in plan.campaign.parts]
        how_long = format_duration(max(timing.longest_populating for timing in timings if not timing.populating))
        yield (
            f"Where `timing.populating` is not given, populating is not counted: up to {how_long} in each cell that "
            f"populates, at most {show_usd(plan.usd_of_populating)} more"
        )
    yield f"Prices: {plan.tariff.source}"
    if plan.campaign.budget is not None:
        yield f"Budget: {show_usd(plan.campaign.budget)}{_shortage(plan, plan.campaign.budget)}"
    if ceiling := plan.campaign.at_most:
        bounds = [show_usd(ceiling.cost)] if ceiling.cost else []
        bounds += [f"{format_duration(ceiling.cell)} for a cell"] if ceiling.cell else []
        yield f"Ended, whatever hangs, at: {', '.join(bounds)}"


def _approval(plan: Plan) -> Iterator[str]:
    """Tell whether a person must approve the campaign, and by which figure, if the definition asks for that."""
    if (rule := plan.campaign.approve) is None:
        return
    if (usd := plan.usd_at_most) is None:
        yield "Approval: needed before hosts are launched, since the price of its hosts is not known"
        return
    figure = f"the greatest cost, populating included, is {show_usd(usd)}"
    if rule.is_needed_for(usd):
        yield f"Approval: needed before hosts are launched, since {figure}: more than {show_usd(rule.above)}"
    else:
        yield f"Approval: not needed, since {figure}: no more than {show_usd(rule.above)}"


def _estimate(plan: Plan) -> str:
    """Return the cost of the cells that run: all of the grid's, or what outcomes leave of it."""
    if plan.usd is None or not plan.is_estimated:
        return show_usd(plan.usd)
    return f"likely {show_usd(plan.usd_of('likely'))}, at most {show_usd(plan.usd_of('most'))}"


def _shortage(plan: Plan, budget: float) -> str:
    """Tell what the budget may leave out; empty where it covers every cell that may run."""
    least, likely, most = (plan.usd_of(bound) or 0.0 for bound in BOUNDS)
    if least > budget:
        return ", less than the estimate: not all cells will run"
    if likely > budget:
        return ", less than the likely cost: probably not all cells that are needed will run"
    return ", less than the greatest cost: perhaps not all cells that are needed will run" if most > budget else ""
