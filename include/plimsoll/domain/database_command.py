"""A database that the definition brings: the commands that make, start and ask one of its nodes."""

from typing import Annotated

from pydantic import Field

from plimsoll.domain.base import LeftOutIfEmpty, Model
from plimsoll.domain.load_command import CommandLine


class DatabaseCommand(Model):
    """A database as commands, which run on each of its nodes. `{…}` in their words stands for a value.

    The database must be on the hosts, and be allowed to run as the user who runs Plimsoll there.
    """

    prepare: Annotated[
        LeftOutIfEmpty[tuple[CommandLine, ...]],
        Field(description="Commands before its start, one after the other: they make its data folder, for example"),
    ] = ()
    run: Annotated[CommandLine, Field(description="Command of the database itself, which stays in the foreground")]
    ready: Annotated[CommandLine, Field(description="Command that ends with exit code 0 once clients can use the node")]
    version: Annotated[CommandLine, Field(description="Command that prints the release, for checks and fingerprint")]
