"""Print the answer of a campaign whose report is published, and what can be done next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from plimsoll.cli.output import print_view

if TYPE_CHECKING:
    from plimsoll.services.toolkit import Toolkit


def show_answer(toolkit: Toolkit, campaign_id: str, report_url: str) -> None:
    """Print conclusion, capacities, causes of misses, warnings, and where the report is."""
    from plimsoll.report.words.terminal import answer_view
    from plimsoll.services.publish.answering import published_answer
    from plimsoll.services.store.campaigns import StoredCampaign

    print_view(answer_view(published_answer(StoredCampaign(toolkit.store, campaign_id), toolkit.clock.now())))
    typer.echo(f"report: {report_url}")
