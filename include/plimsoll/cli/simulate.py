"""`plimsoll simulate`: simulate a definition's strategy with given outcomes, or on synthetic campaigns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.output import DefinitionArgument, JsonOption, SetOption, print_json

_SYNTHETIC = ("runs", "capacities", "width", "noise", "invalid", "seed")
"""The options that say how synthetic campaigns are drawn."""


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
    from plimsoll.cli.simulate_answer import read_outcomes, replay_json, show_replay, show_simulation, simulation_json
    from plimsoll.domain.campaign.resolve import resolve
    from plimsoll.domain.text.errors import Problem, Refused
    from plimsoll.services.campaign.open.creation import requested_definition
    from plimsoll.services.campaign.open.request import values_set
    from plimsoll.settings import Settings
    from plimsoll.strategies.replay import replay
    from plimsoll.strategies.synthetic import CapacityModel, only_stage
    from plimsoll.strategies.synthetic import simulate as play

    document = load_document(Settings(), definition)
    campaign = resolve(requested_definition(document, values_set(values)))
    if outcomes is not None:
        _require_no_synthetic(context)
        played = replay(campaign, read_outcomes(outcomes), where=str(outcomes))
        print_json(replay_json(played)) if as_json else show_replay(played)
        return
    stage = only_stage(campaign, document.where)
    if stop_decided:
        timing = stage.first.timing.model_copy(update={"stop": "decided"})
        stage = replace(stage, parts=tuple(replace(part, timing=timing) for part in stage.parts))
    if capacities not in ("uniform", "published"):
        raise Refused([Problem("--capacities", f"is {capacities!r}", "allowed: uniform, published")], where="simulate")
    simulation = play(stage, CapacityModel(capacities, width, invalid, noise), runs, seed)  # type: ignore[arg-type]  # just checked
    print_json(simulation_json(stage, simulation)) if as_json else show_simulation(stage, simulation)


def _require_no_synthetic(context: typer.Context) -> None:
    """Raise Refused for options that given outcomes leave without effect."""
    from plimsoll.domain.text.errors import Problem, Refused

    mend = "leave it out, or leave out --outcomes"
    sources = {name: context.get_parameter_source(name) for name in _SYNTHETIC}
    named = [name for name, source in sources.items() if source and source.name == "COMMANDLINE"]
    if named:
        says = "is about synthetic campaigns, and --outcomes gives the outcomes"
        raise Refused([Problem(f"--{name}", says, mend) for name in named], where="simulate")
