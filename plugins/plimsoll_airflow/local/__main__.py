"""`python -m plimsoll_airflow.local up|down|status|demo`: what the Makefile calls."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from plimsoll.domain.text.errors import PlimsollError
from plimsoll.places import checkout, own_folder
from plimsoll.settings import Settings
from plimsoll_airflow.dags import DAG_FILES
from plimsoll_airflow.local.home import Home, parse_users
from plimsoll_airflow.local.launcher import Interrupted, Interrupts, launcher_lock, read_record
from plimsoll_airflow.local.process_environment import StackSettings
from plimsoll_airflow.local.shutdown import destroy_clusters
from plimsoll_airflow.local.stack import Stack

HOME = root / ".airflow" if (root := checkout()) else own_folder() / "airflow"
FAILED, REFUSED = 1, 2

app = typer.Typer(help="Airflow on this machine, for Plimsoll.", no_args_is_help=True, pretty_exceptions_enable=False)
interrupts = Interrupts()
console = Console()


@app.callback()
def places(
    context: typer.Context,
    home: Annotated[Path, typer.Option(help="AIRFLOW_HOME.")] = HOME,
    dags: Annotated[Path, typer.Option(help="Folder of DAGs.")] = DAG_FILES,
    port: Annotated[int, typer.Option(help="Preferred port of the api-server; another is taken when in use.")] = 8080,
) -> None:
    """Airflow on this machine, for Plimsoll."""
    context.obj = partial(_stack, home.absolute(), dags.absolute(), port)


@app.command()
def up(
    context: typer.Context,
    clusters: Annotated[
        int | None, typer.Option(min=1, envvar="CLUSTERS", help="How many clusters may live at once.")
    ] = None,
) -> None:
    """Start Airflow and leave it running."""
    with _launching(context, "make up", clusters) as stack:
        busy = _noise()  # before Airflow itself keeps the machine busy
        running = stack.up(kept=True)
        console.print(stack.how_to_open(running), markup=False, highlight=False, soft_wrap=True)
        if busy:
            console.print(busy, markup=False, highlight=False, soft_wrap=True)


@app.command()
def down(context: typer.Context) -> None:
    """Stop Airflow, its database and every cluster on this machine, whoever works on it."""
    with _launching(context, "make down") as stack:
        stack.down(others=True)


@app.command()
def status(
    context: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False
) -> None:
    """Say whether Airflow is up; exit code 1 when it is not."""
    stack: Stack = context.obj()
    noted = read_record(stack.home)
    unhealthy = stack.unhealthy(noted) if noted else []
    answer = {"up": noted is not None and not unhealthy, "url": noted and noted.url, "unhealthy": unhealthy}
    if as_json:
        console.print_json(json.dumps(answer))
    else:
        console.print(_status_words(answer), markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(0 if answer["up"] else FAILED)


@app.command()
def demo(
    context: typer.Context,
    campaign: Annotated[str, typer.Option(envvar="CAMPAIGN", help="Name of a definition.")] = "demo",
) -> None:
    """Run a campaign to its report, and stop again whatever was started for it."""
    # Only here: the other commands need nothing of campaigns.
    from plimsoll_airflow.local.demo import run_demo

    with _launching(context, "make demo") as stack:
        succeeded = run_demo(stack, _settings(), campaign, console)
    raise typer.Exit(0 if succeeded else FAILED)


@contextmanager
def _launching(context: typer.Context, doing: str, clusters: int | None = None) -> Iterator[Stack]:
    stack: Stack = context.obj(clusters)
    stack.home.create()
    with launcher_lock(stack.home, doing):
        yield stack


def _stack(home: Path, dags: Path, port: int, clusters: int | None = None) -> Stack:
    settings = _settings()
    chosen = StackSettings(
        dags=dags,
        store=settings.store,
        cache=settings.cache,
        work=settings.work,
        campaigns=settings.campaigns,
        clusters=clusters,
        port=port,
        users=parse_users(settings.users),
    )
    return Stack(
        Home(home),
        chosen,
        log=lambda text: console.print(text, markup=False, highlight=False, soft_wrap=True),
        interrupts=interrupts,
        destroy_clusters=destroy_clusters,
    )


def _settings() -> Settings:
    """Return the settings with absolute paths, since the stack's processes have another working directory."""
    settings = Settings()
    store = settings.store if "://" in settings.store else str(Path(settings.store).absolute())
    folders = {name: getattr(settings, name).absolute() for name in ("work", "cache", "campaigns")}
    return settings.model_copy(update={"store": store, **folders})


def _noise() -> str:
    """Name what keeps this machine busy already; empty where it is calm."""
    from plimsoll.adapters.hosts.machine import activity_now, in_words
    from plimsoll.domain.keys.host_bounds import Disturbance, noise

    now = activity_now()
    busy = noise(now, Disturbance())
    return f"This machine is busy ({in_words(now)}): {busy}. A miss measured beside it may not count." if busy else ""


def _status_words(answer: Mapping[str, object]) -> str:
    if answer["up"]:
        return f"Airflow is up: {answer['url']}"
    return f"Airflow is not healthy: {answer['unhealthy']}" if answer["unhealthy"] else "Airflow is down"


def main() -> None:
    """Run the command. Errors become a message and exit code 2, signals their own exit codes."""
    try:
        with interrupts.caught():
            app()
    except PlimsollError as error:
        print(f"plimsoll: {error}", file=sys.stderr)
        sys.exit(REFUSED)
    except Interrupted as interruption:
        print(f"stopped by {interruption}", file=sys.stderr)
        sys.exit(interruption.exit_code)


if __name__ == "__main__":
    main()
