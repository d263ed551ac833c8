"""`plimsoll simulate`: simulate a definition's strategy with given outcomes, or on synthetic campaigns."""

from __future__ import annotations

import json
import reprlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plimsoll.cli.output import DefinitionArgument, JsonOption, print_json, print_table
from plimsoll.domain.units import format_rate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.domain.definition import Definition
    from plimsoll.domain.result import Outcome
    from plimsoll.strategies.replay import Replay
    from plimsoll.strategies.synthetic import Simulation

_OUTCOMES_AT_MOST = 64 * 1024 * 1024
_Outcomes = Annotated[
    Path | None,
    typer.Option(
        dir_okay=False,
        help='JSON file: cell id → list of the outcomes of its attempts in order, `"met"`, `"missed"` or `"invalid"`.',
    ),
]
_Runs = Annotated[int, typer.Option(min=1, max=1_000_000, help="Number of synthetic campaigns.")]
_Capacities = Annotated[
    str,
    typer.Option(
        help="How capacities are drawn: `uniform` from all loads, or `published` as in the published campaign."
    ),
]
_Width = Annotated[
    float,
    typer.Option(
        min=0.001, help="Width of the logistic curve by which the chance to be met falls with the load, in load steps."
    ),
]
_Invalid = Annotated[float, typer.Option(min=0, max=0.9, help="Share of attempts that are invalid.")]
_Seed = Annotated[int, typer.Option(help="The same seed gives the same campaigns.")]
_SYNTHETIC = ("runs", "capacities", "width", "invalid", "seed")
"""The options that say how synthetic campaigns are drawn."""


def simulate(  # noqa: PLR0913  # what synthetic campaigns are drawn from
    context: typer.Context,
    definition: DefinitionArgument,
    outcomes: _Outcomes = None,
    *,
    runs: _Runs = 2000,
    capacities: _Capacities = "uniform",
    width: _Width = 0.25,
    invalid: _Invalid = 0.0,
    seed: _Seed = 1,
    as_json: JsonOption = False,
) -> None:
    """Simulate a definition's strategy: how many cells it would run, which capacities it would find. Runs no cell.

    With `--outcomes` the file gives the outcomes of cells. Otherwise the command draws synthetic campaigns. It shows
    how often the strategy's capacities differ from the full grid's, and how often those of two full grids differ.
    """
    from plimsoll.bootstrap import load_definition
    from plimsoll.domain.errors import Problem, Refused
    from plimsoll.settings import Settings
    from plimsoll.strategies.replay import replay, require_one_stage
    from plimsoll.strategies.synthetic import World
    from plimsoll.strategies.synthetic import simulate as play

    declared = load_definition(Settings(), definition)
    require_one_stage(declared)
    [(_, declared)] = declared.of_stages
    if outcomes is not None:
        _require_no_synthetic(context)
        played = replay(declared, _read(outcomes), where=str(outcomes))
        print_json(_replay_json(played)) if as_json else _show_replay(declared, played)
        return
    if capacities not in ("uniform", "published"):
        raise Refused([Problem("--capacities", f"is {capacities!r}", "allowed: uniform, published")], where="simulate")
    world = World(capacities, width, invalid)  # type: ignore[arg-type]  # just checked
    found = play(declared, world, runs, seed)
    print_json(_simulation_json(found)) if as_json else _show_simulation(declared, found)


def _require_no_synthetic(context: typer.Context) -> None:
    """Raise Refused for options that given outcomes leave without effect."""
    from plimsoll.domain.errors import Problem, Refused

    mend = "leave it out, or leave out --outcomes"
    sources = {name: context.get_parameter_source(name) for name in _SYNTHETIC}
    given = [name for name, source in sources.items() if source and source.name == "COMMANDLINE"]
    if given:
        says = "is about synthetic campaigns, and --outcomes gives the outcomes"
        raise Refused([Problem(f"--{name}", says, mend) for name in given], where="simulate")


def _read(path: Path) -> Mapping[str, Sequence[Outcome]]:
    """Read the file of outcomes. Raises Refused for a malformed file."""
    from pydantic import TypeAdapter, ValidationError

    from plimsoll.domain.errors import Problem, Refused
    from plimsoll.domain.result import Outcome

    mend = 'write an object: cell id → list of "met", "missed" or "invalid", such as {"g1-040k-r1": ["met"]}'
    try:
        if path.stat().st_size > _OUTCOMES_AT_MOST:
            raise Refused([Problem("outcomes", "are more than 64 MiB", mend)], where=str(path))
        pairs = json.loads(path.read_bytes(), object_pairs_hook=_each_key_once)
        return TypeAdapter(dict[str, list[Outcome]]).validate_python(pairs)
    except OSError as error:
        raise Refused([Problem("outcomes", f"can't be read: {error.strerror}", mend)], where=str(path)) from error
    except ValidationError as error:
        problems = [Problem(_place(one["loc"]), f"is {reprlib.repr(one['input'])}", mend) for one in error.errors()]
        raise Refused(problems, where=str(path)) from error
    except _Twice as error:
        raise Refused([Problem("the file", str(error), mend)], where=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise Refused([Problem("the file", f"is no JSON: {error}", mend)], where=str(path)) from error


class _Twice(Exception):
    """A key stands twice in an object, so that the first of its values would be lost."""


def _each_key_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The object. Raises _Twice."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Twice(f"has {key!r} twice")
        found[key] = value
    return found


def _place(parts: Sequence[str | int]) -> str:
    """`g1-040k-r1[0]`: the first outcome of a cell."""
    told = "".join(f"[{part}]" if isinstance(part, int) else part for part in parts)
    return told or "the file"


def _replay_json(played: Replay) -> dict[str, Any]:
    return {
        "capacities": {
            variant: {"kind": kind, "capacity_ops_s": capacity}
            for variant, (kind, capacity) in played.capacities.items()
        },
        "ran": played.ran,
        "attempts": played.attempts,
        "not_needed": dict(played.not_needed),
    }


def _simulation_json(found: Simulation) -> dict[str, Any]:
    return {
        "runs": found.runs,
        "cells_mean": found.cells_mean,
        "cells_p95": found.cells_p95,
        "attempts_mean": found.attempts_mean,
        "rounds_mean": found.rounds_mean,
        "differs_share": found.differs_share,
        "grid_differs_share": found.grid_differs_share,
    }


def _show_replay(definition: Definition, played: Replay) -> None:
    cells = definition.cells
    left = cells - len(played.ran) - len(played.not_needed)
    rows = [
        (variant, "–" if capacity is None else format_rate(capacity), kind)
        for variant, (kind, capacity) in played.capacities.items()
    ]
    print_table("Capacities", ("variant", "capacity", "kind"), rows)
    typer.echo(
        f"{len(played.ran)} of {cells} cells ran, in {played.attempts} attempts; "
        f"{len(played.not_needed)} {'was' if len(played.not_needed) == 1 else 'were'} not needed"
    )
    if played.waiting:
        typer.echo(f"{left} may still run: {', '.join(played.waiting)} had no valid outcome")


def _show_simulation(definition: Definition, found: Simulation) -> None:
    cells = definition.cells
    typer.echo(
        f"{found.runs} synthetic campaigns of {definition.name}, strategy {definition.strategy.name}\n"
        f"Cells: {found.cells_mean:.1f} of {cells} on average, {found.cells_p95} or fewer in 95 % of campaigns; "
        f"{found.attempts_mean:.1f} attempts in {found.rounds_mean:.1f} rounds\n"
        f"Cell-hours under load: {found.hours_mean(definition):.3g} on average\n"
        f"Another capacity than the full grid's for any variant: {found.differs_share:.1%} of campaigns; "
        f"two full grids disagree in {found.grid_differs_share:.1%}"
    )
