"""What `plimsoll simulate` reads and writes: the file of outcomes that it plays, its output, as JSON and for people."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Sequence
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer
from pydantic import PlainValidator, TypeAdapter, ValidationError

from plimsoll.cli.output import print_table
from plimsoll.domain.attempt.result import Outcome
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.domain.text.units import format_rate
from plimsoll.domain.text.wording import figure, plural
from plimsoll.report.formatting import listing
from plimsoll.strategies.replay import Attempts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.domain.campaign.campaign import CampaignStage
    from plimsoll.strategies.replay import Replay
    from plimsoll.strategies.synthetic import Simulation
    from plimsoll.strategies.threshold.question import Answer

_NAMED = 10
"""The number of waiting cells that are named for people."""

_SHARES = ("differs_share", "grid_differs_share", "holds_share", "narrow_share")
_REPLAYED = ("taken_loads", "cells", "ran", "attempts", "invalid", "waiting", "not_needed")
_AT_MOST = 64 * 1024 * 1024
_FORM = (
    'write an object: cell id → list of "met", "missed", "invalid", or the worst interval over its bound as a number, '
    'such as {"g1-040k-r1": ["met"], "g1-050k-r1": [1.03]}'
)


def _outcome(value: Any) -> Outcome | float:
    """Return an attempt's outcome, or its worst interval over the bound. Raises ValueError for anything else."""
    # JSON's `true` is an int in Python
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < inf:
        return float(value)
    if value in get_args(Outcome):
        return cast("Outcome", value)
    raise ValueError("is no outcome")


_Attempt = Annotated[Any, PlainValidator(_outcome)]


def replay_json(played: Replay) -> dict[str, Any]:
    """Return a replayed campaign in its documented JSON form (docs/reference/strategies.md)."""
    return {
        "capacities": {
            variant: {"kind": kind, "capacity_ops_s": capacity}
            for variant, (kind, capacity) in played.capacities.items()
        },
        **({"answers": {name: asdict(answer) for name, answer in played.answers.items()}} if played.answers else {}),
        **{name: getattr(played, name) for name in _REPLAYED},
    }


def simulation_json(stage: CampaignStage, found: Simulation) -> dict[str, Any]:
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


def show_replay(played: Replay) -> None:
    """Show a replayed campaign: capacities, the cells that ran, and those that may still run."""
    rows = [(variant, _rate(capacity), kind) for variant, (kind, capacity) in played.capacities.items()]
    print_table("Capacities", ("variant", "capacity", "kind"), rows)
    if played.answers:
        answers = [(name, *_answer(answer)) for name, answer in played.answers.items()]
        print_table("Loads that are met with the chance asked for", ("variant", "load", "interval", "by"), answers)
    if played.taken_loads:
        taken = [(variant, _rate(load)) for variant, load in played.taken_loads.items()]
        print_table("Loads from earlier stages", ("variant", "load"), taken)
    for line in _cells(played):
        typer.echo(line)


def _answer(answer: Answer) -> tuple[str, str, str]:
    low, high = _rate(answer.low_ops_s), _rate(answer.high_ops_s)
    return _rate(answer.load_ops_s), f"{low} to {high}", answer.decided_by


def _cells(played: Replay) -> Iterator[str]:
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


def show_simulation(stage: CampaignStage, found: Simulation) -> None:
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


def read_outcomes(path: Path) -> Attempts:
    """Read the file. Raises Refused where it can't be read, or is malformed."""

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
