"""`plimsoll clusters`: what is alive, and an end to it."""

from typing import Annotated

import typer

from plimsoll.cli.output import JsonOption, print_json, print_table

clusters_app = typer.Typer(help="List the clusters that are alive, or destroy them.", no_args_is_help=True)


@clusters_app.command("list")
def list_clusters(as_json: JsonOption = False) -> None:
    """Every cluster alive now, found by what is really there."""
    from plimsoll.bootstrap import build_toolkit
    from plimsoll.domain.cost import cost_until
    from plimsoll.services.reaping import living_clusters
    from plimsoll.settings import Settings

    toolkit = build_toolkit(Settings())
    clusters, now = living_clusters(toolkit), toolkit.clock.now()
    costs = [cost_until(cluster, now).usd for cluster in clusters]
    if as_json:
        print_json([{**c.model_dump(mode="json"), "usd_so_far": usd} for c, usd in zip(clusters, costs, strict=True)])
        return
    rows = [
        (c.key, c.provider, len(c.hosts), c.hosts[0].address, c.owner, f"{c.expires_at:%Y-%m-%d %H:%M} UTC", _usd(usd))
        for c, usd in zip(clusters, costs, strict=True)
    ]
    columns = ("cluster", "provider", "hosts", "first", "owner", "expires", "cost so far")
    print_table(f"{len(clusters)} clusters alive", columns, rows)


@clusters_app.command()
def destroy(
    cluster: Annotated[str, typer.Argument(help="`campaign/cell/attempt`, as listed.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Every cluster of this installation.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Destroy one cluster, or all, and verify that it is gone. Exits with 1 if one resisted."""
    from plimsoll.bootstrap import build_toolkit
    from plimsoll.services.reaping import reap
    from plimsoll.settings import Settings

    if bool(cluster) == every:
        raise typer.BadParameter("give one cluster or --all")
    reaped = reap(build_toolkit(Settings()), lambda alive: bool(cluster) and str(alive.key) != cluster)
    destroyed = [str(alive.key) for alive in reaped.destroyed]
    failed = {str(alive.key): reason for alive, reason in reaped.failed}
    if as_json:
        print_json({"destroyed": destroyed, "failed": failed})
    else:
        typer.echo("\n".join(f"destroyed {key}" for key in destroyed) or "nothing to destroy")
        for key, reason in failed.items():
            typer.echo(f"{key}: {reason}", err=True)
    raise typer.Exit(1 if failed else 0)


def _usd(amount: float) -> str:
    return f"{amount:.2f} USD" if amount else "nothing"
