"""What a definition says of the machines of a database that somebody else runs, which are looked at over SSH."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.adapters.hosts.following import GC_LOG
from plimsoll.adapters.hosts.reached import HostOptions
from plimsoll.domain.text.base import LeftOutIfEmpty, Model

OWN_LOG = "database.log"
"""The name of the database's own log among a cell's files."""

_Path = Annotated[
    str,
    Field(
        pattern=r"^(/[A-Za-z0-9._*?@+=-]+)+$",
        max_length=300,
        description="Its path, which may have `*`: of several files the one that was written to last",
    ),
]


class KnownLog(Model):
    """A database's own log in a form that Plimsoll reads."""

    path: _Path
    of: Annotated[Literal["cassandra", "scylladb"], Field(description="Product in whose form its lines are")]


class Observe(Model):
    """Machines of the database, of which samples and logs are taken while a cell runs. Nothing is deployed there."""

    ssh: Annotated[str, Field(min_length=1, description="Connection whose key logs in, as a user that may only read")]
    hosts: Annotated[
        tuple[HostOptions, ...],
        Field(min_length=1, max_length=100, description="Machines of all nodes or of some"),
    ]
    runs_as: Annotated[
        str,
        Field(
            pattern=r"^[a-z0-9_][a-z0-9_.-]*$",
            max_length=64,
            description="User of the operating system as whom the database runs there, by name or number: whatever "
            "else takes processor time counts as other programs",
        ),
    ]
    gc_log: Annotated[LeftOutIfEmpty[_Path | None], Field(description="GC log of the database's JVM")] = None
    log: Annotated[LeftOutIfEmpty[KnownLog | None], Field(description="The database's own log")] = None
    logs: Annotated[
        LeftOutIfEmpty[tuple[_Path, ...]], Field(max_length=20, description="Further logs, kept beside a cell's files")
    ] = ()
    # Not in /dev/shm: systemd removes what a user has there once he has no session.
    folder: Annotated[
        str,
        Field(
            pattern=r"^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$",
            description="Where samples and what is taken of logs lie meanwhile; made, and removed when it is empty",
        ),
    ] = "/var/tmp/plimsoll-observed"  # noqa: S108 - its user's alone, and refused where it is another's

    @property
    def followed(self) -> Mapping[str, str]:
        """Return name → path of each log, where the name is what it is kept under."""
        known = {GC_LOG: self.gc_log, OWN_LOG: self.log.path if self.log else None}
        # The number keeps logs of one name in several folders apart
        further = {f"{number}-{_plain(path)}": path for number, path in enumerate(self.logs, start=1)}
        return {**{name: path for name, path in known.items() if path}, **further}


def _plain(path: str) -> str:
    return re.sub(r"[*?=]", "", PurePosixPath(path).name) or "log"
