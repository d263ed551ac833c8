"""`plimsoll import`: runs that others made become a campaign of the store."""

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.cli.output import JsonOption, print_json, print_text
from plimsoll.domain.wording import plural

_Description = Annotated[
    Path, typer.Argument(metavar="FILE", help="YAML file that says what to import: see docs/guides/importing.md.")
]


def import_runs(description: _Description, as_json: JsonOption = False) -> None:
    """Import runs that others made, and judge them; `plimsoll report` then reports them like any campaign.

    Files already imported are left as they are. Exits with 0 whatever the verdicts, and with 2 where the import itself
    is refused.
    """
    from plimsoll.adapters.stores.folders import ImportFolder
    from plimsoll.adapters.stores.local_files import read_text
    from plimsoll.bootstrap import build_toolkit
    from plimsoll.report.formatting import listing
    from plimsoll.services.imports.description import DescribedRun, parse_description
    from plimsoll.services.imports.importing import LocalFile, import_runs
    from plimsoll.settings import Settings

    described = parse_description(read_text(description), str(description))
    folder = ImportFolder(description.parent)

    def find(wanted: DescribedRun) -> tuple[LocalFile, ...]:
        return folder.find(wanted.patterns, required=wanted.required)

    show = (lambda _: None) if as_json else print_text
    toolkit = build_toolkit(Settings())
    verdicts = import_runs(toolkit, described, find, show)
    if as_json:
        cells = {verdict.cell.id: verdict.outcome for verdict in verdicts}
        warnings = {verdict.cell.id: list(verdict.warnings) for verdict in verdicts}
        print_json({"campaign_id": described.campaign, "cells": cells, "warnings": warnings})
        return
    cells_of: dict[str, list[str]] = {}
    for verdict in verdicts:
        for warning in verdict.warnings:
            cells_of.setdefault(warning, []).append(verdict.cell.id)
    for warning, ids in cells_of.items():
        typer.echo(f"Warning: {warning} ({listing(ids, 5)})")
    typer.echo(
        f"campaign {described.campaign}: {plural(len(verdicts), 'cell')}. "
        f"`plimsoll report {described.campaign}` makes its report"
    )
