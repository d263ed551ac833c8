"""Options of the provider `command` in a definition: its three programs, what they are given, how hosts are used."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field, JsonValue

from plimsoll.adapters.providers.ssh.group import FOLDER_PATTERN
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.units import PositiveDuration

_WORD = r"^[^\x00]*$"

Argv = Annotated[
    tuple[Annotated[str, Field(max_length=4000, pattern=_WORD)], ...],
    Field(min_length=1, max_length=100, examples=[["my-cloud", "launch"]]),
]
"""A program's file name and its arguments. It is looked for in one folder alone, and no shell reads it."""


class Prices(Model):
    """USD per hour of a host by its role: for the estimate, and for hosts that are printed without a price."""

    node: Annotated[float | None, Field(ge=0, allow_inf_nan=False, description="Of a database node, USD per hour")] = (
        None
    )
    load: Annotated[float | None, Field(ge=0, allow_inf_nan=False, description="Of a load host, USD per hour")] = None

    def of(self, role: str) -> float | None:
        return self.node if role == "node" else self.load


class CommandOptions(Model):
    """Which programs make hosts, list them and end them."""

    launch: Annotated[Argv, Field(description="Program that makes the hosts of a cluster and prints them")]
    list: Annotated[Argv, Field(description="Program that prints all hosts that live and carry the owner's tags")]
    end: Annotated[Argv, Field(description="Program that ends the hosts of a cluster")]
    options: Annotated[dict[str, JsonValue], Field(description="Given to each program as they are: no secrets")] = {}
    connection: Annotated[str, Field(min_length=1, description="Connection whose key logs in to hosts")] = "ssh_default"
    folder: Annotated[str, Field(pattern=FOLDER_PATTERN, description="Where clusters live on every host")] = (
        "~/.plimsoll"
    )
    prices: Annotated[Prices, Field(description="USD per hour of a `node` and a `load` host")] = Prices()
    launch_within: Annotated[PositiveDuration, Field(description="Longest time for `launch`")] = timedelta(minutes=15)
    answer_within: Annotated[PositiveDuration, Field(description="Longest time for `list`, and for `end`")] = timedelta(
        minutes=2
    )
    patience: Annotated[PositiveDuration, Field(description="How long a cell waits for room")] = timedelta(minutes=30)
    startup: Annotated[PositiveDuration, Field(description="How long launched hosts may take until they let us in")] = (
        timedelta(minutes=10)
    )
