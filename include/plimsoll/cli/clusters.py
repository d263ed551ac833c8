"""`plimsoll clusters`: what is alive, and an end to it; `plimsoll provider`: try a cloud before a campaign does."""

import sys
from collections.abc import Collection, Iterable
from datetime import datetime
from functools import partial
from typing import Annotated

import typer

from plimsoll.cli.output import JsonOption, print_json, print_table, print_text
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.hosts.cluster import Cluster, ClusterId
from plimsoll.domain.hosts.cost import lacks_price, total
from plimsoll.domain.hosts.owner import owner_words
from plimsoll.domain.keys.system import EXTERNAL
from plimsoll.domain.text.units import show_usd
from plimsoll.domain.text.wording import plural

clusters_app = typer.Typer(help="List the clusters that are alive, or destroy them.")
provider_app = typer.Typer(help="Try the programs of a provider `command`.")


@clusters_app.callback(invoke_without_command=True)
def clusters(context: typer.Context) -> None:
    """Without a command, `list`."""
    if context.invoked_subcommand is None:
        list_clusters()


@clusters_app.command("list")
def list_clusters(as_json: JsonOption = False) -> None:
    """List every cluster that is alive, by providers and by the record of launches, with its cost so far.

    Exits with 1 if a provider or a host did not answer, and names it.
    """
    from plimsoll.bootstrap import build_toolkit
    from plimsoll.services.hosts.reaping import living_clusters
    from plimsoll.settings import Settings

    toolkit = build_toolkit(Settings())
    living, now = living_clusters(toolkit), toolkit.clock.now()
    costs = [(cluster, total(cluster.hosts, now).usd) for cluster in living.clusters]
    if as_json:
        print_json(
            [
                {**cluster.model_dump(mode="json"), "usd_so_far": usd, "usd_is_least": lacks_price(cluster.hosts)}
                for cluster, usd in costs
            ]
        )
    elif not costs:
        typer.echo("no cluster is alive")
    else:
        paid = toolkit.tariffs.keys() - {EXTERNAL}
        rows = [(*_row(cluster, now), _cost(cluster, usd, paid)) for cluster, usd in costs]
        columns = ("cluster", "provider", "hosts", "first", "owner", "age", "expires", "cost so far")
        usd, least = sum(usd for _, usd in costs), any(lacks_price(cluster.hosts) for cluster, _ in costs)
        print_table(f"{plural(len(rows), 'cluster')} alive, {show_usd(usd, is_least=least)} so far", columns, rows)
    unseen = (*living.unseen, *living.silent)
    for why in unseen:
        print_text(why, err=True)
    raise typer.Exit(1 if unseen else 0)


@clusters_app.command()
def destroy(  # noqa: PLR0913, PLR0917  # each is an option
    cluster: Annotated[str, typer.Argument(help="Name as listed: `campaign/cell/attempt` or `campaign/hosts/1`.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Every listed cluster on which nobody works any more.")] = False,
    here: Annotated[bool, typer.Option("--here", help="With `--all`: only clusters on this machine.")] = False,
    others: Annotated[
        bool, typer.Option("--others", help="With `--all`: also clusters on which somebody works, after naming them.")
    ] = False,
    ended_airflow: Annotated[
        str,
        typer.Option(
            "--ended-airflow",
            metavar="INSTALLATION",
            help="With `--all`: also clusters of runs of the Airflow with this id, which must not be running.",
        ),
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only name what would be destroyed.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Destroy one cluster, or all that nobody works on, and verify that it is gone.

    Whether a run of Airflow lives, this command can't tell: unless its Airflow is said to have ended, it does until its
    cluster expires. Exits with 1 if a cluster could not be destroyed, or if a provider or a host did not answer.
    """
    from plimsoll.bootstrap import build_toolkit
    from plimsoll.services.hosts.places import require_known
    from plimsoll.services.hosts.reaping import destroy_unseen, has_living_owner, on_this_machine, reap, without_airflow
    from plimsoll.settings import Settings

    # `here > every` means `--here` without `--all`
    if bool(cluster) == every or max(here, others, bool(ended_airflow)) > every:
        raise typer.BadParameter("give one cluster, or --all, perhaps with --here, --others and --ended-airflow")
    all_providers = without_airflow(build_toolkit(Settings()), ended_airflow)
    toolkit = on_this_machine(all_providers) if here else all_providers

    def is_kept(alive: Cluster) -> bool:
        return str(alive.id) != cluster if cluster else has_living_owner(toolkit, alive)

    named: set[ClusterId] = set()
    if others:
        seen = reap(toolkit, is_kept, dry_run=True)
        named = {alive.id for alive in (*seen.destroyed, *seen.kept)}
        _name_others(seen.kept, "somebody works on it, and it is destroyed too")
        if not (dry_run or as_json) and sys.stdin.isatty():
            typer.confirm("Destroy all of them?", abort=True, err=True)
    # What began since was not named.
    reaped = reap(toolkit, (lambda alive: alive.id not in named) if others else is_kept, dry_run=dry_run)
    destroyed = [str(alive.id) for alive in reaped.destroyed]
    failed = {str(alive.id): reason for alive, reason in reaped.failed}
    if cluster and not dry_run and cluster not in (*destroyed, *failed) and destroy_unseen(toolkit, cluster):
        destroyed.append(cluster)
    if cluster and not (destroyed or failed or reaped.unseen or reaped.silent):
        # Where somebody could not be asked, a cluster that no record names may live there.
        require_known(toolkit.store, cluster, [alive.id for alive in reaped.kept])
    # Where the cluster that was named is gone, silent hosts elsewhere say nothing about it.
    unseen = reaped.unseen if cluster in destroyed else (*reaped.unseen, *reaped.silent)
    kept = reaped.kept if every else ()
    if as_json:
        left = {"kept": [str(alive.id) for alive in kept]} if kept else {}
        done = "would_destroy" if dry_run else "destroyed"
        print_json({done: destroyed, "failed": failed, "unseen": unseen, **left})
    else:
        done = "would be destroyed:" if dry_run else "destroyed"
        nothing = "nothing was destroyed" if failed or unseen else "nothing to destroy"
        typer.echo("\n".join(f"{done} {key}" for key in destroyed) or nothing)
        _name_others(kept, "somebody works on it, so it is left alone; `--others` destroys it too")
        for key, reason in failed.items():
            print_text(f"{key}: {reason}", err=True)
        for why in unseen:
            print_text(why, err=True)
    raise typer.Exit(1 if failed or unseen else 0)


def _name_others(clusters: Iterable[Cluster], what: str) -> None:
    """Tell whose clusters these are, and what becomes of them."""
    for cluster in clusters:
        print_text(
            f"{cluster.id} of {owner_words(cluster.owner)}, until {cluster.expires_at:%Y-%m-%d %H:%M} UTC: {what}",
            err=True,
        )


def _cost(cluster: Cluster, usd: float, paid: Collection[str]) -> str:
    """Return the cluster's cost so far. A host without a price makes it unknown, as such hosts cost.

    Hosts are paid for by their provider, or by what is known of load hosts from elsewhere.
    """
    if usd and not lacks_price(cluster.hosts):
        return show_usd(usd)
    return "unknown" if cluster.provider in paid or any(host.since for host in cluster.hosts) else "nothing"


def _row(cluster: Cluster, now: datetime) -> tuple[object, ...]:
    minutes = int((now - cluster.created_at).total_seconds()) // 60
    return (
        cluster.id,
        cluster.provider,
        len(cluster.hosts),
        cluster.hosts[0].address if cluster.hosts else "none",
        owner_words(cluster.owner),
        f"{minutes // 60} h {minutes % 60:02d} min",
        f"{cluster.expires_at:%Y-%m-%d %H:%M} UTC",
    )


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
    from plimsoll.services.hosts.places import note_place
    from plimsoll.services.hosts.provider_check import check_provider
    from plimsoll.settings import Settings

    settings = Settings()
    campaign, toolkit = resolve(load_definition(settings, definition)), build_toolkit(settings)
    tried = provider_to_check(settings, campaign.provider)
    wrong, spec = 0, toolkit.hosts_spec(campaign)
    # Before the launch: should this process be killed, the host is looked for there
    note = partial(note_place, toolkit.store, campaign)
    for looked in check_provider(tried, spec, toolkit.owners.me(), toolkit.clock, note):
        wrong += bool(looked.mend)
        print_text(f"WRONG {looked.what}\n  To mend it: {looked.mend}" if looked.mend else f"ok    {looked.what}")
    raise typer.Exit(1 if wrong else 0)
