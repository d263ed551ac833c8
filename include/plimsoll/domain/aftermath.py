"""What populating left a database to do, such as compactions: waited for before the timed run."""

from typing import Annotated

from pydantic import Field

from plimsoll.domain.base import Model


class Aftermath(Model):
    """What came of waiting for it."""

    settled: Annotated[bool, Field(description="Nothing was left to do when the timed run began")]
    left: Annotated[dict[str, int], Field(description="Compactions that still ran or waited, by node")] = {}
    waited_s: float = 0.0
    problem: Annotated[str, Field(description="Why the nodes could not tell; empty where they did")] = ""
