"""`plimsoll campaigns` and `plimsoll status`."""

from plimsoll.cli.output import CampaignArgument, JsonOption, print_json, print_table


def campaigns(as_json: JsonOption = False) -> None:
    """List the campaigns in the store."""
    from plimsoll.bootstrap import existing_store
    from plimsoll.services.campaigns import CampaignStore, campaign_ids
    from plimsoll.settings import Settings

    store = existing_store(Settings())
    found = [(name, CampaignStore(store, name).definition().title) for name in campaign_ids(store)]
    if as_json:
        print_json([{"campaign_id": name, "title": title} for name, title in found])
        return
    print_table(f"Campaigns in {store.url()}", ("campaign", "title"), found)


def status(campaign: CampaignArgument, as_json: JsonOption = False) -> None:
    """Show how far a campaign is, cell by cell."""
    from plimsoll.adapters.clock import SystemClock
    from plimsoll.adapters.owners import LocalProcesses
    from plimsoll.bootstrap import existing_store
    from plimsoll.domain.units import show_usd
    from plimsoll.services.progress import campaign_progress
    from plimsoll.settings import Settings

    progress = campaign_progress(existing_store(Settings()), campaign, now=SystemClock().now(), owners=LocalProcesses())
    if as_json:
        print_json(progress.model_dump(mode="json"))
        return
    rows = [
        (cell.cell.id, cell.state, cell.attempt or "", cell.progress.phase if cell.progress else "", cell.reason)
        for cell in progress.cells
    ]
    budget = "" if progress.budget_usd is None else f" of {show_usd(progress.budget_usd)}"
    cost = f", {show_usd(progress.usd)}{budget} spent so far" if progress.usd else ""
    print_table(f"{progress.title} ({campaign}){cost}", ("cell", "state", "attempt", "phase", "reason"), rows)
