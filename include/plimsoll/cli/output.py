"""Options, printing and the user's name, which all commands share, and the answer of a campaign with a report."""

from __future__ import annotations

import json
import logging
import os
import pwd
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plimsoll.domain.text.errors import StoreError
from plimsoll.domain.text.wording import visible

if TYPE_CHECKING:
    from rich.console import RenderableType

    from plimsoll.ports.store import ResultStore
    from plimsoll.services.toolkit import Toolkit

_UNBOUNDED = 10_000
"""Columns of a pipe or a file: more than any table takes."""

JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document instead of text.")]
DefinitionArgument = Annotated[str, typer.Argument(help="Name of a definition, or the path of a YAML file.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Value of a parameter of the definition, for this campaign. Repeatable."
    ),
]
CampaignArgument = Annotated[str, typer.Argument(help="Id of a campaign in the store.")]


def user_name() -> str:
    """Return the user's name as the operating system has it. Anybody can set the environment's `LOGNAME`.

    A user whom it does not know by name, as in a container, is `user 12345`.
    """
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"user {os.getuid()}"


def open_store() -> ResultStore:
    """Return the existing result store of the settings. Raises StoreError where there is none."""
    from plimsoll.bootstrap import existing_store
    from plimsoll.settings import Settings

    return existing_store(Settings())


def print_json(document: Any, *, err: bool = False) -> None:
    """Print one JSON document on standard output; with `err` on standard error."""
    typer.echo(json.dumps(document, indent=2, default=str), err=err)


def print_text(text: str, *, err: bool = False) -> None:
    """Print a text with words of other programs, hosts or files. No terminal obeys control characters in it."""
    typer.echo(visible(text), err=err)


def print_table(title: str, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a table for people. Whatever people and programs wrote is shown as it is, not read as rich's markup.

    Nothing is cut: on a narrow terminal long names go on in the next line.
    """
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(str(value))) for value in row))
    # A title of the table itself would be broken to the table's width.
    print_view(Group(Text(visible(title), style="table.title"), table))


def print_view(view: RenderableType) -> None:
    """Print anything that rich can render."""
    from rich.console import Console

    # In a pipe or a file there is no width to fit into, and programs look for whole names.
    Console(width=None if sys.stdout.isatty() else _UNBOUNDED).print(view)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise StoreError where the block can't write to that path."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"can't be written ({error.strerror})", where=str(path), mend="choose another file") from error


@contextmanager
def log_shown() -> Iterator[None]:
    """Print Plimsoll's log messages inside the block, for a person who waits."""
    log, handler = logging.getLogger("plimsoll"), logging.StreamHandler(sys.stdout)
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(level)
        log.removeHandler(handler)


def show_answer(toolkit: Toolkit, campaign_id: str, report_url: str) -> None:
    """Print conclusion, capacities, causes of misses, warnings, and where the report is."""
    from plimsoll.report.words.terminal import answer_view
    from plimsoll.services.publish.results import published_answer
    from plimsoll.services.store.campaigns import StoredCampaign

    print_view(answer_view(published_answer(StoredCampaign(toolkit.store, campaign_id), toolkit.clock.now())))
    typer.echo(f"report: {report_url}")
