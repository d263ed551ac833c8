"""The output of `plimsoll simulate`, as JSON and for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from plimsoll.cli.output import print_table
from plimsoll.domain.plurals import plural
from plimsoll.domain.units import format_rate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.domain.campaign import CampaignStage
    from plimsoll.strategies.replay import Replay
    from plimsoll.strategies.synthetic import Simulation

_NAMED = 10
"""The number of waiting cells that are named for people."""


def replay_json(played: Replay) -> dict[str, Any]:
    """Return a replayed campaign in its documented JSON form (docs/reference/strategies.md)."""
    return {
        "capacities": {
            variant: {"kind": kind, "capacity_ops_s": capacity}
            for variant, (kind, capacity) in played.capacities.items()
        },
        "taken_loads": dict(played.taken_loads),
        "cells": played.cells,
        "ran": played.ran,
        "attempts": played.attempts,
        "invalid": played.invalid,
        "waiting": played.waiting,
        "not_needed": dict(played.not_needed),
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
        "differs_share": found.differs_share,
        "grid_differs_share": found.grid_differs_share,
    }


def show_replay(played: Replay) -> None:
    """Show a replayed campaign: capacities, the cells that ran, and those that may still run."""
    rows = [(variant, _rate(capacity), kind) for variant, (kind, capacity) in played.capacities.items()]
    print_table("Capacities", ("variant", "capacity", "kind"), rows)
    if played.taken_loads:
        taken = [(variant, _rate(load)) for variant, load in played.taken_loads.items()]
        print_table("Loads from earlier stages", ("variant", "load"), taken)
    for line in _cells(played):
        typer.echo(line)


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
        yield f"{wait}: {_named(waiting)}{further}"


def _named(cells: Sequence[str]) -> str:
    more = len(cells) - _NAMED
    return ", ".join(cells[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _rate(load_ops_s: int | None) -> str:
    return "–" if load_ops_s is None else format_rate(load_ops_s)


def show_simulation(stage: CampaignStage, found: Simulation) -> None:
    """Show how many cells synthetic campaigns took, and how often their capacities differ."""
    cells = stage.cells
    typer.echo(
        f"{found.runs} synthetic campaigns of {stage.first.name}, strategy {stage.first.strategy.name}\n"
        f"Cells: {found.cells_mean:.1f} of {cells} on average, {found.cells_p95} or fewer in 95 % of campaigns; "
        f"{found.attempts_mean:.1f} attempts in {found.rounds_mean:.1f} rounds\n"
        f"Cell-hours under load: {found.hours_mean(stage.first):.3g} on average\n"
        f"Another capacity than the full grid's for any variant: {found.differs_share:.1%} of campaigns; "
        f"two full grids disagree in {found.grid_differs_share:.1%}"
    )
