"""The command line: the same use-cases as the DAGs, without Airflow.

Commands are imported when they are given, and heavy modules inside them: each command pays only for what it uses.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Annotated, Any, NoReturn

# Before all others:
# Pydantic looks through all installed packages for plugins, of which we use none: 60 ms of every command.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
# NumPy's linear algebra, of which we use none, starts a thread for each processor: 20 ms of a command with NumPy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import typer
from typer.core import TyperGroup
from typer.main import get_group

from plimsoll.domain.text.errors import PlimsollError, Refused

# Where each command or group of commands stands, in the order in which `plimsoll --help` lists them.
_COMMANDS = {
    "plan": "plan.plan",
    "simulate": "simulate.simulate",
    "judge": "judge.judge",
    "rejudge": "rejudge.rejudge",
    "report": "report.report",
    "bundle": "report.bundle",
    "compare": "trend.compare",
    "trend": "trend.trend",
    "status": "campaigns.status",
    "doctor": "prepare.doctor",
    "prepare": "prepare.prepare",
    "run": "run.run",
    "schema": "plan.schema",
    "import": "judge.import_runs",
    "campaigns": "campaigns.campaigns_app",
    "clusters": "clusters.clusters_app",
    "provider": "clusters.provider_app",
    "store": "store.store_app",
}


class _Commands(Mapping[str, Any]):
    """Click's commands by name, each imported when it is asked for: most need the models of definitions, which take a
    tenth of all that `judge` does with the biggest cell.
    """

    def __getitem__(self, name: str) -> Any:
        module, attribute = _COMMANDS[name].split(".")
        command = getattr(import_module(f"{__name__}.{module}"), attribute)
        alone = typer.Typer(rich_markup_mode="markdown")
        if isinstance(command, typer.Typer):
            alone.add_typer(command, name=name)
        else:
            alone.command(name)(command)
        return get_group(alone).commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_COMMANDS)

    def __len__(self) -> int:
        return len(_COMMANDS)


class _Group(TyperGroup):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": _Commands()})


cli = typer.Typer(
    name="plimsoll",
    cls=_Group,
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
