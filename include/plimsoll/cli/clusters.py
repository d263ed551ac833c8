"""`plimsoll clusters`: what is alive, and an end to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from plimsoll.cli.output import JsonOption, print_json, print_table, print_text
from plimsoll.domain.owner import owner_words
from plimsoll.domain.plurals import plural
from plimsoll.domain.units import show_usd

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from plimsoll.domain.cluster import Cluster

clusters_app = typer.Typer(help="List the clusters that are alive, or destroy them.")


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
    from plimsoll.domain.cost import cost_until
    from plimsoll.domain.system import EXTERNAL
    from plimsoll.services.hosts.reaping import living_clusters
    from plimsoll.settings import Settings

    toolkit = build_toolkit(Settings())
    living, now = living_clusters(toolkit), toolkit.clock.now()
    costs = [(cluster, cost_until(cluster, now).usd) for cluster in living.clusters]
    if as_json:
        print_json([{**cluster.model_dump(mode="json"), "usd_so_far": usd} for cluster, usd in costs])
    elif not costs:
        typer.echo("no cluster is alive")
    else:
        paid = toolkit.tariffs.keys() - {EXTERNAL}
        rows = [(*_row(cluster, now), _cost(usd, is_paid=_is_paid(cluster, paid))) for cluster, usd in costs]
        columns = ("cluster", "provider", "hosts", "first", "owner", "age", "expires", "cost so far")
        print_table(
            f"{plural(len(rows), 'cluster')} alive, {show_usd(sum(usd for _, usd in costs))} so far", columns, rows
        )
    unseen = (*living.unseen, *living.silent)
    for why in unseen:
        print_text(why, err=True)
    raise typer.Exit(1 if unseen else 0)


@clusters_app.command()
def destroy(
    cluster: Annotated[str, typer.Argument(help="Name as listed: `campaign/cell/attempt` or `campaign/hosts/1`.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Every cluster that `plimsoll clusters list` shows.")] = False,
    here: Annotated[bool, typer.Option("--here", help="With `--all`: only clusters on this machine.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Destroy one cluster, or all, and verify that it is gone.

    Exits with 1 if a cluster could not be destroyed, or if a provider or a host did not answer.
    """
    from plimsoll.bootstrap import build_toolkit
    from plimsoll.services.hosts.cluster_names import require_known
    from plimsoll.services.hosts.reaping import destroy_unseen, on_this_machine, reap
    from plimsoll.settings import Settings

    if bool(cluster) == every or here > every:
        raise typer.BadParameter("give one cluster, or --all, or --all --here")
    all_providers = build_toolkit(Settings())
    toolkit = on_this_machine(all_providers) if here else all_providers
    reaped = reap(toolkit, lambda alive: bool(cluster) and str(alive.id) != cluster)
    destroyed = [str(alive.id) for alive in reaped.destroyed]
    failed = {str(alive.id): reason for alive, reason in reaped.failed}
    if cluster and cluster not in (*destroyed, *failed) and destroy_unseen(toolkit, cluster):
        destroyed.append(cluster)
    if cluster and not (destroyed or failed or reaped.unseen or reaped.silent):
        # Where somebody could not be asked, a cluster that no record names may live there.
        require_known(toolkit.store, cluster, [alive.id for alive in reaped.kept])
    # Where the cluster that was named is gone, silent hosts elsewhere say nothing about it.
    unseen = reaped.unseen if cluster in destroyed else (*reaped.unseen, *reaped.silent)
    if as_json:
        print_json({"destroyed": destroyed, "failed": failed, "unseen": unseen})
    else:
        typer.echo("\n".join(f"destroyed {key}" for key in destroyed) or "nothing to destroy")
        for key, reason in failed.items():
            print_text(f"{key}: {reason}", err=True)
        for why in unseen:
            print_text(why, err=True)
    raise typer.Exit(1 if failed or unseen else 0)


def _is_paid(cluster: Cluster, paid: Collection[str]) -> bool:
    """Tell whether its hosts are paid for: by their provider, or by what is known of load hosts from elsewhere."""
    return cluster.provider in paid or any(host.since for host in cluster.hosts)


def _cost(usd: float, *, is_paid: bool) -> str:
    """Return the cluster's cost so far.

    A host without a price makes it unknown, because hosts that must be paid for cost something.
    """
    if usd:
        return show_usd(usd)
    return "unknown" if is_paid else "nothing"


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
