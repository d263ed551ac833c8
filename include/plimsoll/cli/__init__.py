"""The command line: the same use-cases as the DAGs, without Airflow.

Heavy modules are imported inside the commands, so that each command pays only for what it uses.
"""

import os
import sys
from dataclasses import replace
from typing import Annotated, NoReturn

# Before all others:
# Pydantic looks through all installed packages for plugins, of which we use none: 60 ms of every command.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
# NumPy's linear algebra, of which we use none, starts a thread for each processor: 20 ms of a command with NumPy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import typer

from plimsoll.cli.campaigns import campaigns_app, status
from plimsoll.cli.clusters import clusters_app, provider_app
from plimsoll.cli.judge import import_runs, judge
from plimsoll.cli.plan import plan, schema
from plimsoll.cli.prepare import doctor, prepare
from plimsoll.cli.rejudge import rejudge
from plimsoll.cli.report import bundle, report
from plimsoll.cli.run import run
from plimsoll.cli.simulate import simulate
from plimsoll.cli.store import store_app
from plimsoll.cli.trend import compare, trend
from plimsoll.domain.text.errors import PlimsollError, Refused

cli = typer.Typer(
    name="plimsoll",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(given: bool) -> None:
    if given:
        from plimsoll.adapters.code_version import code_version

        typer.echo(f"plimsoll {code_version()}")
        raise typer.Exit


@cli.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Version, and a digest of the code.")
    ] = False,
) -> None:
    """Find out how much load a database carries while it keeps its service level."""


for command in (plan, simulate, judge, rejudge, report, bundle, compare, trend, status, doctor, prepare, run, schema):
    cli.command()(command)
cli.command("import")(import_runs)
cli.add_typer(campaigns_app, name="campaigns")
cli.add_typer(clusters_app, name="clusters")
cli.add_typer(provider_app, name="provider")
cli.add_typer(store_app, name="store")


def app() -> None:
    """Run the command line. Errors that Plimsoll raises on purpose become a message and exit code 2."""
    try:
        cli()
    except PlimsollError as error:
        _end(error)
    except ValueError as error:
        if (refused := _wrong_settings(error)) is None:
            raise
        _end(refused)


def _end(error: PlimsollError) -> NoReturn:
    """Print the error after everything that was printed before, in a pipe too, and exit with 2."""
    sys.stdout.flush()
    typer.echo(f"plimsoll: {error}", err=True)
    sys.exit(2)


def _wrong_settings(error: ValueError) -> Refused | None:
    """Return the faults of settings in the environment, in words; None for any other error."""
    from pydantic import ValidationError

    from plimsoll.domain.keys.faults import problems_of
    from plimsoll.settings import Settings

    if not isinstance(error, ValidationError) or error.title != Settings.__name__:
        return None
    problems = [replace(problem, where=f"PLIMSOLL_{problem.where.upper()}") for problem in problems_of(error, Settings)]
    return Refused(problems, where="settings")
