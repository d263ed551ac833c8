"""`plimsoll provider`: try a cloud of one's own before a campaign does."""

from __future__ import annotations

from typing import Annotated

import typer

from plimsoll.cli.output import print_text

provider_app = typer.Typer(help="Try the programs of a provider `command`.")


@provider_app.callback()
def provider() -> None:
    """Commands about providers."""


@provider_app.command()
def check(
    definition: Annotated[str, typer.Argument(help="Definition with `provider: {name: command}`, by name or path.")],
) -> None:
    """Launch one host by the definition's programs, look at it, log in, end it, and say what they do wrong.

    Exits with 1 if something is wrong. If it is killed, `plimsoll clusters list` shows the host, which the reaper ends
    within an hour.
    """
    from plimsoll.bootstrap import build_toolkit, load_definition, provider_to_check
    from plimsoll.domain.campaign.resolve import resolve
    from plimsoll.services.hosts.places import note_place
    from plimsoll.services.hosts.provider_check import check_provider
    from plimsoll.settings import Settings

    settings = Settings()
    campaign, toolkit = resolve(load_definition(settings, definition)), build_toolkit(settings)
    tried = provider_to_check(settings, campaign.provider)
    # Before the launch: should this process be killed, the host is looked for there
    note_place(toolkit.store, campaign)
    wrong = 0
    for looked in check_provider(tried, toolkit.hosts_spec(campaign), toolkit.owners.me(), toolkit.clock):
        wrong += bool(looked.mend)
        print_text(f"WRONG {looked.what}\n  To mend it: {looked.mend}" if looked.mend else f"ok    {looked.what}")
    raise typer.Exit(1 if wrong else 0)
