"""What a definition chooses beside its variants and loads: the system, the load generator and the provider; and
programs that it brings, a load generator or a database: their commands, and how output is read.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, Field, JsonValue

from plimsoll.domain.keys.log_words import ColumnPairs
from plimsoll.domain.keys.variant import RELEASE, Archive
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import ShortDuration

_PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Za-z_][\w.-]*)\}")
"""A name in braces. Other texts in braces, such as JSON or the variables of a shell, stand for themselves."""


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
        tuple[str, ...], Field(min_length=1, description="Names of the files with times, such as `*.hdr`")
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
            max_length=400,
            description="Extended regular expression (POSIX). The first number in its last match on the console is the "
            "rate. With named groups a Python expression of a line: `rate` (ops/s), `errors` (of the time since the "
            "last line) or `errors_s`, `p99_ms`, `p99_9_us` and such; `stop_when` goes by these",
        ),
    ] = None
    stop_signal: Annotated[
        LeftOutIfEmpty[Literal["INT", "TERM", "HUP", "QUIT"] | None],
        Field(
            description="Signal on which the program ends cleanly, if a rule of `stop_when` is broken. By default TERM"
        ),
    ] = None


def placeholders(line: str) -> Sequence[str]:
    """Return the names in braces, known or not."""
    return _PLACEHOLDER.findall(line)


def filled(line: str, values: Mapping[str, str]) -> Sequence[str]:
    """Return the words of a command with the values in place. Raises KeyError for a name without a value."""
    return [with_values(word, values) for word in shlex.split(line)]


def with_values(text: str, values: Mapping[str, str]) -> str:
    """Return the text with the values in place of names in braces. Raises KeyError for a name without a value."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def plain(value: JsonValue) -> str:
    """Return the value as it is written on a command line, or by Java: `true`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def values_of(options: Mapping[str, JsonValue]) -> dict[str, str]:
    """Return the options that can stand in commands, texts and numbers, as they are written."""
    return {name: plain(value) for name, value in options.items() if isinstance(value, str | int | float)}


def program_of(line: str, values: Mapping[str, str]) -> str:
    """Return the program that a command runs, without `env` and its variables.

    Empty where its name depends on a value that is not among these, or on options of `env`.
    """
    words = (word for word in shlex.split(line) if word != "env" and not re.match(r"\w+=", word))
    program = next(words, "")
    if program.startswith("-") or not values.keys() >= set(placeholders(program)):
        return ""
    return with_values(program, values)


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


LONGEST_START = timedelta(minutes=25)
"""The longest `start_within`: it is a part of the hour of the step in which the database starts."""


EXTERNAL = "external"
"""The provider, and the product, of a cluster that somebody else runs."""

IMPORTED = "imported"
"""The provider of a campaign of imported attempts, for which Plimsoll ran no hosts."""

NOT_KNOWN = "not known"
"""The word for what an external cluster does not tell."""

OwnedByLoad = Literal["cluster", "keyspace", "nothing"]
"""The part of a database that is the load's own: a cluster that was deployed for it, one keyspace of a cluster of
somebody else (or what commands make in an endpoint), or nothing of its own.
"""


class System(Model):
    """The number of nodes of a cluster, and the database of the variants that have no `product` of their own."""

    database: Annotated[
        str, Field(description="Product: `cassandra`, `hbase`, `scylladb`, `command` or `external`")
    ] = "cassandra"
    version: Annotated[
        str | None,
        Field(pattern=RELEASE, description="Release of the variants that name no version", examples=["4.0.1"]),
    ] = None
    nodes: Annotated[int, Field(ge=1, le=1000, description="Number of database nodes of one cluster")] = 3
    start_within: Annotated[
        LeftOutIfEmpty[ShortDuration | None],
        Field(
            le=LONGEST_START,
            description="Longest time for all nodes to start, at most 25m; by default the product's own",
        ),
    ] = None
    settings: Annotated[
        dict[str, JsonValue], Field(description="Settings of the database, which replace the adapter's own")
    ] = {}
    command: Annotated[
        LeftOutIfEmpty[DatabaseCommand | None], Field(description="The commands of `database: command`")
    ] = None


class LoadGeneratorChoice(Model):
    """The load generator and its concurrency."""

    name: Annotated[str, Field(description="`plimsoll-stress`, `cassandra-stress`, `latte` or `command`")] = (
        "plimsoll-stress"
    )
    # Not written where it is one, as definitions were before there could be several
    hosts: Annotated[
        int, Field(ge=1, le=32, description="Load hosts of a cell, which share the rate", exclude_if=(1).__eq__)
    ] = 1
    threads: Annotated[int, Field(ge=1, le=1024, description="Client threads of each load host")] = 8
    concurrency: Annotated[int, Field(ge=1, description="Operations in flight per thread, at most")] = 50
    heap: Annotated[
        str, Field(pattern=r"^\d+[MG]$", description="Heap of the generator's own JVM", examples=["512M", "2G"])
    ] = "1G"

    command: Annotated[LeftOutIfEmpty[LoadCommand | None], Field(description="The commands of `name: command`")] = None

    @property
    def most_in_flight(self) -> int:
        """Return the greatest number of queries in flight, over all load hosts."""
        return self.hosts * self.threads * self.concurrency


class ProviderChoice(Model):
    """The provider of clusters, and its options."""

    name: Annotated[str, Field(description="`local`, `ssh`, `ec2`, `command` or `external`")] = "local"
    options: Annotated[dict[str, JsonValue], Field(description="Options of that provider")] = {}

    @property
    def owns(self) -> OwnedByLoad:
        """Return what the load has to itself. Of less than a cluster little is known, and no host has nodes."""
        if self.name != EXTERNAL:
            return "cluster"
        if self.is_endpoint:
            return "keyspace" if self.options.get("clean_up") else "nothing"
        return "nothing" if isinstance(self.options.get("keyspace"), dict) else "keyspace"

    @property
    def is_endpoint(self) -> bool:
        """Tell whether it is a database of any kind that somebody else runs, which only commands ask."""
        return self.name == EXTERNAL and "addresses" in self.options

    @property
    def shares_machine(self) -> bool:
        """Tell whether all nodes run on one machine, and share its processors."""
        return self.name == "local"

    @property
    def hosts_from(self) -> "HostSource | None":
        """Return whose hosts are used; None where the definition does not say it, so that they are this machine's."""
        if self.owns == "cluster":
            return HostSource(self, "provider.options")
        lender = self.options.get("load_hosts")
        if not isinstance(lender, dict):
            return None
        name, options = lender.get("provider"), lender.get("options") or {}
        if not isinstance(name, str) or not isinstance(options, dict):
            return None
        return HostSource(ProviderChoice(name=name, options=options), "provider.options.load_hosts.options")


class HostSource(NamedTuple):
    """The provider whose hosts a campaign uses, and the key at which the definition has its options."""

    provider: ProviderChoice
    key: str
