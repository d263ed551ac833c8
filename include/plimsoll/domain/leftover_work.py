"""Background work that populating leaves to a database, such as compactions. The timed run waits for its end."""

from typing import Annotated

from pydantic import Field

from plimsoll.domain.base import Model


class LeftoverWork(Model):
    """The outcome of waiting for that background work."""

    settled: Annotated[bool, Field(description="Nothing was left to do when the timed run began")]
    left: Annotated[dict[str, int], Field(description="Compactions that still ran or waited, by node")] = {}
    waited_s: float = 0.0
    problem: Annotated[str, Field(description="Why the nodes could not tell; empty where they did")] = ""
