"""Programs that the definition brings, a load generator or a database: their commands, and how output is read."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from plimsoll.domain.keys.log_words import ColumnPairs
from plimsoll.domain.keys.variant import Archive
from plimsoll.domain.text.base import LeftOutIfEmpty, Model

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def _parsed(line: str) -> str:
    """Refuse a line that can't be divided into words. Raises ValueError."""
    if not shlex.split(line):
        raise ValueError("is empty: write the program and its arguments")
    return line


CommandLine = Annotated[str, Field(max_length=4000), AfterValidator(_parsed)]
"""A program with its arguments, divided into words by quotes and spaces as a shell does it. No shell runs it."""


class LoadCommand(Model):
    """A load generator as commands. `{…}` in their words stands for a value."""

    archive: Annotated[
        LeftOutIfEmpty[Archive | None],
        Field(description="Archive of the program, `{archive}`. Without it: what is on the load host"),
    ] = None
    populate: Annotated[
        LeftOutIfEmpty[CommandLine | None], Field(description="Command that makes tables and rows before the timed run")
    ] = None
    run: Annotated[CommandLine, Field(description="Command of the timed run, with `{rate}` and `{duration}`")]
    version: Annotated[
        LeftOutIfEmpty[CommandLine | None],
        Field(description="Command whose first line of output is the program's version"),
    ] = None
    outputs: Annotated[
        tuple[str, ...],
        Field(min_length=1, description="Names of the files with times, such as `*.hdr`"),
    ]
    unit: Annotated[
        LeftOutIfEmpty[Literal["ms", "us", "ns"] | None],
        Field(description="Unit of the values, where the files do not show it"),
    ] = None
    tags: Annotated[LeftOutIfEmpty[tuple[str, ...]], Field(description="Tags to judge; by default all")] = ()
    columns: Annotated[
        LeftOutIfEmpty[ColumnPairs],
        Field(
            description="What the columns of a log of operations hold: `{time: ts, latency: elapsed_ms, ok: success}`"
        ),
    ] = {}
    progress: Annotated[
        LeftOutIfEmpty[str | None],
        Field(
            max_length=200,
            description="Extended regular expression (POSIX). The first number in its last match on the console is the "
            "rate",
        ),
    ] = None


def placeholders(line: str) -> Sequence[str]:
    """Return the texts in braces, whether their names are known or not."""
    return _PLACEHOLDER.findall(line)


def filled(line: str, values: Mapping[str, str]) -> Sequence[str]:
    """Return the words of a command with the values in place. Raises KeyError for a name without a value."""
    return [_PLACEHOLDER.sub(lambda found: values[found[1]], word) for word in shlex.split(line)]


def program_of(line: str, values: Mapping[str, str]) -> str:
    """Return the program that a command runs, without `env` and its variables.

    Empty where its name depends on a value that is not among these, or on options of `env`.
    """
    words = (word for word in shlex.split(line) if word != "env" and not re.match(r"\w+=", word))
    program = next(words, "")
    if program.startswith("-") or not values.keys() >= set(placeholders(program)):
        return ""
    return _PLACEHOLDER.sub(lambda found: values[found[1]], program)


class DatabaseCommand(Model):
    """A database as commands, which run on each of its nodes. `{…}` in their words stands for a value. The database
    must be on the hosts.
    """

    prepare: Annotated[
        LeftOutIfEmpty[tuple[CommandLine, ...]],
        Field(description="Commands before its start, such as one that makes its data folder"),
    ] = ()
    run: Annotated[CommandLine, Field(description="Command of the database, which stays in the foreground")]
    ready: Annotated[CommandLine, Field(description="Command that ends with exit code 0 once clients can use the node")]
    version: Annotated[CommandLine, Field(description="Command that prints the release")]
