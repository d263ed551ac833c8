"""`plimsoll plan` and `plimsoll schema`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.output import DefinitionArgument, JsonOption, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.domain.definition import Definition
    from plimsoll.domain.errors import Problem
    from plimsoll.services.toolkit import Toolkit

_ParallelOption = Annotated[
    int | None,
    typer.Option(min=1, help="Number of cells that run at the same time; by default the definition's `max_parallel`."),
]


def plan(definition: DefinitionArgument, parallel: _ParallelOption = None, as_json: JsonOption = False) -> None:
    """Check a definition against this machine and show what its campaign takes. Starts nothing.

    If the definition is wrong or can't run here, the command names every problem at the end and exits with 2. It still
    shows what the campaign would take, as far as this is known. Without credentials for the provider a note says what
    could not be checked; that alone is no problem.
    """
    from plimsoll.bootstrap import build_toolkit, load_document
    from plimsoll.cli.plan_answer import show
    from plimsoll.domain.definition import Definition
    from plimsoll.domain.errors import ProviderError, Refused
    from plimsoll.domain.loads import load_remarks
    from plimsoll.domain.resolve import resolve
    from plimsoll.services.campaign.open.planning import downloads, make_plan
    from plimsoll.services.campaign.open.remarks import remarks
    from plimsoll.settings import Settings

    settings = Settings()
    document, toolkit = load_document(settings, definition), build_toolkit(settings)
    declared = document.model(Definition)
    campaign = resolve(declared)
    problems, notes = _checked(toolkit, declared)
    found = document.located(problems)
    refused = Refused(found, where=f"definition {declared.name!r}")
    try:
        planned = make_plan(campaign, parallel=parallel, tariff=toolkit.tariff(campaign))
    except ProviderError as error:  # options that can't be read have no price, and are among the problems
        raise (refused if found else error) from error
    notes += (*load_remarks(document.content), *remarks(toolkit, planned))
    needed = downloads(toolkit, campaign)
    if as_json:
        software = [one.model_dump() for one in needed]
        remarks_json = {"downloads": software, "notes": notes, "problems": [str(problem) for problem in found]}
        print_json({**planned.as_json(), **remarks_json})
    else:
        show(planned, notes, needed)
    if found:
        raise refused


def schema(
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the reference for people, in Markdown, instead.")
    ] = False,
) -> None:
    """Print the JSON schema of definitions, for editors and other tools."""
    from plimsoll.adapters.generators.plimsoll_stress.reference import own_statement_tables
    from plimsoll.services.definitions.reference import definition_reference, definition_schema

    if markdown:
        typer.echo(definition_reference(own_statement_tables()), nl=False)
    else:
        print_json(definition_schema())


def _checked(toolkit: Toolkit, declared: Definition) -> tuple[Sequence[Problem], list[str]]:
    """Return every problem found, and a note if the provider could not be asked: then problems are of software."""
    from plimsoll.domain.errors import SecretError
    from plimsoll.services.campaign.open.runnable import problems, software_problems

    provider = f"provider {declared.provider.name!r}"
    try:
        return problems(toolkit, declared), []
    except SecretError as error:
        unasked = f"{provider} can't be asked from here, nothing was checked with it: {error.headline}"
        return tuple(software_problems(toolkit, declared)), [unasked]
