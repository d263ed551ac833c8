"""`plimsoll plan` and `plimsoll schema`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.output import DefinitionArgument, JsonOption, print_json, print_table
from plimsoll.domain.units import format_rate

if TYPE_CHECKING:
    from plimsoll.services.planning import Plan

_ParallelOption = Annotated[
    int | None, typer.Option(min=1, help="Cells in flight at once; the definition's own `max_parallel` by default.")
]


def plan(definition: DefinitionArgument, parallel: _ParallelOption = None, as_json: JsonOption = False) -> None:
    """Check a definition against this machine and show what its campaign takes. Starts nothing.

    Exits with 2 and every problem found when the definition is wrong or can't run here. A definition whose provider
    is not part of this installation is planned all the same, and the plan says so.
    """
    from plimsoll.bootstrap import build_toolkit, load_definition
    from plimsoll.domain.errors import Refused
    from plimsoll.services.planning import make_plan, problems
    from plimsoll.settings import Settings

    settings = Settings()
    declared = load_definition(settings, definition)
    toolkit = build_toolkit(settings)
    elsewhere = declared.provider.name not in toolkit.providers
    found = [] if elsewhere else problems(toolkit, declared)
    if found:
        raise Refused(found, where=f"definition {declared.name!r}")
    planned = make_plan(declared, parallel=parallel)
    notes = [f"provider {declared.provider.name!r} is not part of this installation: nothing was checked with it"]
    if as_json:
        print_json({**planned.as_json(), "notes": notes if elsewhere else []})
        return
    _show(planned)
    for note in notes if elsewhere else []:
        typer.echo(f"Note: {note}.")


def schema(
    markdown: Annotated[bool, typer.Option("--markdown", help="The reference for people instead.")] = False,
) -> None:
    """Print the JSON schema of definitions, for editors and other tools."""
    from plimsoll.services.definition_reference import definition_reference
    from plimsoll.services.definitions import definition_schema

    if markdown:
        typer.echo(definition_reference(), nl=False)
    else:
        print_json(definition_schema())


def _show(plan: Plan) -> None:
    definition = plan.definition
    typer.echo(f"{definition.title} ({definition.name})")
    for level in definition.service_levels:
        typer.echo(f"Service level: {level}")
    loads = [format_rate(load) for load in definition.loads]
    rows = [(variant.id, *(f"×{definition.repeats}" for _ in loads)) for variant in definition.variants]
    print_table("Variants × loads, repeats in each square", ("variant", *loads), rows)
    typer.echo(
        f"{len(plan.cells)} cells: {len(definition.variants)} variants × {len(loads)} loads × "
        f"{definition.repeats} repeats\n"
        f"{plan.cell_hours:g} cell-hours under load, {plan.host_hours:g} host-hours\n"
        f"{plan.parallel} cells at a time: {plan.hosts} hosts, at least {plan.load_time} under load\n"
        f"First: {', '.join(cell.id for cell in plan.cells[:4])} …"
    )
