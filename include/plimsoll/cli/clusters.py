"""`plimsoll clusters`: what is alive, and an end to it."""

from typing import Annotated

import typer

from plimsoll.cli.output import JsonOption, print_json, print_table

clusters_app = typer.Typer(help="List the clusters that are alive, or destroy them.", no_args_is_help=True)


@clusters_app.command("list")
def list_clusters(as_json: JsonOption = False) -> None:
    """Every cluster alive now, found by what is really there."""
    from plimsoll.bootstrap import build_toolkit
    from plimsoll.services.reaping import living_clusters
    from plimsoll.settings import Settings

    clusters = living_clusters(build_toolkit(Settings()))
    if as_json:
        print_json([cluster.model_dump(mode="json") for cluster in clusters])
        return
    rows = [(c.key, c.provider, len(c.hosts), c.nodes[0].address, c.owner, c.expires_at) for c in clusters]
    print_table(f"{len(clusters)} clusters alive", ("cluster", "provider", "hosts", "first", "owner", "expires"), rows)


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
