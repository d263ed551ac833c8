"""`plimsoll report`: publish a campaign's report again from the store."""

from plimsoll.cli.output import CampaignArgument, JsonOption, print_json


def report(campaign: CampaignArgument, as_json: JsonOption = False) -> None:
    """Check the campaign's quality and publish its report, from what the store holds.

    Exits with 2 and names the cells to run again when the quality gate does not pass.
    """
    import typer

    from plimsoll.bootstrap import build_toolkit
    from plimsoll.services.publishing import capacity_rows, publish_report
    from plimsoll.settings import Settings

    toolkit = build_toolkit(Settings())
    url = publish_report(toolkit, campaign)
    if as_json:
        print_json({"campaign_id": campaign, "report": url, "capacity": capacity_rows(toolkit, campaign)})
        return
    typer.echo(f"report: {url}")
