"""`plimsoll simulate`: simulate a definition's strategy with given outcomes, or on synthetic campaigns; the file of
outcomes, and what is shown.
"""

from __future__ import annotations

import json
import reprlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer
from pydantic import PlainValidator, ValidationError

from plimsoll.cli.output import DefinitionArgument, JsonOption, SetOption, print_json, print_table
from plimsoll.domain.attempt.result import Outcome
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.domain.text.units import format_rate
from plimsoll.domain.text.wording import figure, plural
from plimsoll.strategies.synthetic import CapacityModel, Simulation, only_stage
from plimsoll.strategies.synthetic import simulate as play

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.domain.campaign.campaign import CampaignStage
    from plimsoll.strategies.replay import Attempts, Replay

_SYNTHETIC = ("runs", "capacities", "width", "noise", "invalid", "seed")
"""The options that say how synthetic campaigns are drawn."""
_NAMED = 10
"""The number of waiting cells that are named for people."""
_SHARES = ("differs_share", "grid_differs_share", "holds_share", "narrow_share")
_REPLAYED = ("taken_loads", "cells", "ran", "attempts", "invalid", "waiting", "not_needed")
_AT_MOST = 64 * 1024 * 1024
_FORM = (
    'write an object: cell id → list of "met", "missed", "invalid", or the worst interval over its bound as a number, '
    'such as {"g1-040k-r1": ["met"], "g1-050k-r1": [1.03]}'
)


def simulate(  # noqa: PLR0913  # what synthetic campaigns are drawn from
    context: typer.Context,
    definition: DefinitionArgument,
    outcomes: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False,
            help="JSON file: cell id → list of the outcomes of its attempts in order, "
            '`"met"`, `"missed"`, `"invalid"`, or '
            "the worst interval's percentile over its bound as a number, such as 1.03. "
            "An empty list: no attempt. Of a cell that runs, the newest valid outcome counts.",
        ),
    ] = None,
    *,
    values: SetOption = None,
    runs: Annotated[int, typer.Option(min=1, max=1_000_000, help="Number of synthetic campaigns.")] = 2000,
    capacities: Annotated[
        str,
        typer.Option(
            help="How capacities are drawn: `uniform` from all loads, or `published` as in the published campaign."
        ),
    ] = "uniform",
    width: Annotated[
        float,
        typer.Option(
            min=0.001,
            max=1000,
            help="Width of the logistic curve by which the chance to be met falls with the load, in load steps.",
        ),
    ] = 0.25,
    noise: Annotated[
        float,
        typer.Option(
            min=0.001,
            max=10,
            help="Of a threshold: how much the margins of cells of one load differ, a standard deviation of natural "
            "logs.",
        ),
    ] = 0.3,
    invalid: Annotated[float, typer.Option(min=0, max=0.9, help="Share of attempts that are invalid.")] = 0.0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same campaigns.")] = 1,
    stop_decided: Annotated[
        bool, typer.Option("--stop-decided", help="As if the definition had `timing: {stop: decided}`.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Simulate a definition's strategy: how many cells it would run, which capacities it would find. Runs no cell.

    With `--outcomes` the file gives the outcomes of cells. Otherwise the command draws synthetic campaigns. It shows
    how often the strategy's capacities differ from the full grid's, and how often those of two full grids differ; of a
    threshold, how often its interval holds the true load.
    """
    from plimsoll.bootstrap import load_document
    from plimsoll.services.campaign.open.creation import requested_definition
    from plimsoll.services.campaign.open.request import values_set
    from plimsoll.settings import Settings
    from plimsoll.strategies.replay import replay

    document = load_document(Settings(), definition)
    campaign = resolve(requested_definition(document, values_set(values)))
    if outcomes is not None:
        _require_no_synthetic(context)
        played = replay(campaign, _read_outcomes(outcomes), where=str(outcomes))
        print_json(_replay_json(played)) if as_json else _show_replay(played)
        return
    stage = only_stage(campaign, document.where)
    if stop_decided:
        timing = stage.first.timing.model_copy(update={"stop": "decided"})
        stage = replace(stage, parts=tuple(replace(part, timing=timing) for part in stage.parts))
    if capacities not in ("uniform", "published"):
        raise Refused([Problem("--capacities", f"is {capacities!r}", "allowed: uniform, published")], where="simulate")
    simulation = play(stage, CapacityModel(capacities, width, invalid, noise), runs, seed)  # type: ignore[arg-type]  # just checked
    print_json(_simulation_json(stage, simulation)) if as_json else _show_simulation(stage, simulation)


def _require_no_synthetic(context: typer.Context) -> None:
    """Raise Refused for options that given outcomes leave without effect."""
    mend = "leave it out, or leave out --outcomes"
    sources = {name: context.get_parameter_source(name) for name in _SYNTHETIC}
    named = [name for name, source in sources.items() if source and source.name == "COMMANDLINE"]
    if named:
        says = "is about synthetic campaigns, and --outcomes gives the outcomes"
        raise Refused([Problem(f"--{name}", says, mend) for name in named], where="simulate")


def _outcome(value: Any) -> Outcome | float:
    """Return an attempt's outcome, or its worst interval over the bound. Raises ValueError for anything else."""
    # JSON's `true` is an int in Python
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < inf:
        return float(value)
    if value in get_args(Outcome):
        return cast("Outcome", value)
    raise ValueError("is no outcome")


_Attempt = Annotated[Any, PlainValidator(_outcome)]


def _read_outcomes(path: Path) -> Attempts:
    """Read the file. Raises Refused where it can't be read, or is malformed."""
    from pydantic import TypeAdapter

    def each_key_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        content: dict[str, Any] = {}
        for key, value in pairs:
            if key in content:  # the first of its values would be lost
                raise Refused([Problem("the file", f"has {key!r} twice", _FORM)], where=str(path))
            content[key] = value
        return content

    try:
        outcomes = json.loads(_content(path), object_pairs_hook=each_key_once)
        return TypeAdapter(dict[str, list[_Attempt]]).validate_python(outcomes)
    except ValidationError as error:
        faults = error.errors()
        problems = [Problem(_place(fault["loc"]), f"is {reprlib.repr(fault['input'])}", _FORM) for fault in faults]
        raise Refused(problems, where=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise Refused([Problem("the file", f"is no JSON: {error}", _FORM)], where=str(path)) from error


def _content(path: Path) -> bytes:
    """Return the bytes of the file. Raises Refused where it is too large or can't be read."""
    try:
        if path.stat().st_size > _AT_MOST:
            raise Refused([Problem("outcomes", "are more than 64 MiB", _FORM)], where=str(path))
        return path.read_bytes()
    except OSError as error:
        mend = "give the path of a JSON file that you can read"
        raise Refused([Problem("--outcomes", f"can't be read: {error.strerror}", mend)], where=str(path)) from error


def _place(parts: Sequence[str | int]) -> str:
    """Name a place in the file: `g1-040k-r1[0]` is the first outcome of a cell."""
    name = "".join(f"[{part}]" if isinstance(part, int) else part for part in parts)
    return name or "the file"


def _replay_json(played: Replay) -> dict[str, Any]:
    """Return a replayed campaign in its documented JSON form (docs/reference/strategies.md)."""
    return {
        "capacities": {
            variant: {"kind": kind, "capacity_ops_s": capacity}
            for variant, (kind, capacity) in played.capacities.items()
        },
        **({"answers": {name: asdict(answer) for name, answer in played.answers.items()}} if played.answers else {}),
        **{name: getattr(played, name) for name in _REPLAYED},
    }


def _simulation_json(stage: CampaignStage, found: Simulation) -> dict[str, Any]:
    """Return synthetic campaigns in their documented JSON form (docs/reference/strategies.md)."""
    return {
        "runs": found.runs,
        "cells_mean": found.cells_mean,
        "cells_p95": found.cells_p95,
        "attempts_mean": found.attempts_mean,
        "rounds_mean": found.rounds_mean,
        "cell_hours": found.hours_mean(stage.first),
        **{name: share for name in _SHARES if (share := getattr(found, name)) is not None},
    }


def _show_replay(played: Replay) -> None:
    """Show a replayed campaign: capacities, the cells that ran, and those that may still run."""
    rows = [(variant, _rate(capacity), kind) for variant, (kind, capacity) in played.capacities.items()]
    print_table("Capacities", ("variant", "capacity", "kind"), rows)
    if played.answers:
        answers = [
            (name, _rate(found.load_ops_s), f"{_rate(found.low_ops_s)} to {_rate(found.high_ops_s)}", found.decided_by)
            for name, found in played.answers.items()
        ]
        print_table("Loads that are met with the chance asked for", ("variant", "load", "interval", "by"), answers)
    if played.taken_loads:
        taken = [(variant, _rate(load)) for variant, load in played.taken_loads.items()]
        print_table("Loads from earlier stages", ("variant", "load"), taken)
    for line in _cells(played):
        typer.echo(line)


def _cells(played: Replay) -> Iterator[str]:
    from plimsoll.report.formatting import listing

    invalid = f" ({len(played.invalid)} without a valid attempt)" if played.invalid else ""
    spared = len(played.not_needed)
    yield (
        f"{len(played.ran)} of {plural(played.cells, 'cell')} ran{invalid}, in {plural(played.attempts, 'attempt')}; "
        f"{spared} {'was' if spared == 1 else 'were'} not needed"
    )
    if waiting := played.waiting:
        others = played.may_run - len(set(waiting) - set(played.ran))
        further = f"; {others} more may run after {'it' if len(waiting) == 1 else 'them'}" if others else ""
        wait = f"{plural(len(waiting), 'cell')} {'waits' if len(waiting) == 1 else 'wait'} for a valid attempt"
        yield f"{wait}: {listing(waiting, _NAMED)}{further}"


def _rate(load_ops_s: float | None) -> str:
    return "–" if load_ops_s is None else format_rate(round(load_ops_s))


def _show_simulation(stage: CampaignStage, found: Simulation) -> None:
    """Show how many cells synthetic campaigns took, and how often their capacities differ."""
    cells = stage.cells
    typer.echo(
        f"{found.runs} synthetic campaigns of {stage.first.name}, strategy {stage.first.strategy.name}\n"
        f"Cells: {found.cells_mean:.1f} of {cells} on average, {found.cells_p95} or fewer in 95 % of campaigns; "
        f"{found.attempts_mean:.1f} attempts in {found.rounds_mean:.1f} rounds\n"
        f"Cell-hours under load: {figure(found.hours_mean(stage.first))} on average\n"
        f"{_shares(found)}"
    )


def _shares(simulation: Simulation) -> str:
    if simulation.holds_share is None:
        return (
            f"Another capacity than the full grid's for any variant: {simulation.differs_share:.1%} of campaigns; "
            f"two full grids disagree in {simulation.grid_differs_share:.1%}"
        )
    return (
        f"The interval holds the true load in {simulation.holds_share:.1%} of searches; "
        f"it became as narrow as asked in {simulation.narrow_share:.1%}"
    )
