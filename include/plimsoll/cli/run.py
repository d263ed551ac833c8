"""`plimsoll run`: a campaign in this process, without Airflow."""

import os
from typing import Annotated

import typer

from plimsoll.cli.output import DefinitionArgument


def run(
    definition: DefinitionArgument,
    campaign: Annotated[str, typer.Option(help="Continue this campaign instead of a new one.")] = "",
    cell: Annotated[str, typer.Option(help="Run only this cell, whether it is missing or not.")] = "",
) -> None:
    """Run a campaign's missing cells one after another, then its quality gate and report."""
    from plimsoll.bootstrap import build_toolkit, load_document
    from plimsoll.domain.definition import Definition
    from plimsoll.services.campaigns import CampaignStore
    from plimsoll.services.planning import make_plan, new_campaign_id, remarks, require_runnable
    from plimsoll.services.publishing import next_loads, publish_report
    from plimsoll.services.running import run_cell, run_missing
    from plimsoll.settings import Settings

    settings = Settings()
    document, toolkit = load_document(settings, definition), build_toolkit(settings)
    declared = document.model(Definition)
    require_runnable(toolkit, declared, document)
    for remark in remarks(toolkit, make_plan(declared, parallel=1)):
        typer.echo(f"Note: {remark}.")
    campaign_id = campaign or new_campaign_id(declared, toolkit.clock.now())
    CampaignStore(toolkit.store, campaign_id).open(declared)
    owner = f"cli-{os.getpid()}"
    if cell:
        run_cell(toolkit, campaign_id, cell, owner, typer.echo)
        return
    run_missing(toolkit, campaign_id, owner, typer.echo)
    typer.echo(f"report: {publish_report(toolkit, campaign_id)}")
    if line := next_loads(toolkit, campaign_id):
        typer.echo(f"to narrow where the boundaries lie, write into the definition: {line}")
