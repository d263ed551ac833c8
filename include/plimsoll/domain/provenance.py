"""The origin of an imported attempt: a run that somebody measured without Plimsoll, judged by the same rules."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from plimsoll.domain.base import LeftOutIfEmpty, Model

IMPORTED = "imported"
"""The provider of a campaign of imported attempts, for which Plimsoll ran no hosts."""

ENVIRONMENT_FACTS = (
    "operating system",
    "kernel",
    "CPU",
    "CPUs",
    "memory",
    "page size",
    "transparent huge pages",
    "swap",
    "instance type",
    "JVM",
    "JVM flags",
    "load generator",
    "load host",
)
"""The facts that Plimsoll reads from the hosts of a cell that it runs. Of an import they are known only if somebody
states them.
"""


class Provenance(Model):
    """The origin of an imported attempt, how its files were read, and which facts about it are missing."""

    source: Annotated[str, Field(description="Who published the data, and where")]
    licence: str = ""
    files: Annotated[tuple[str, ...], Field(description="Names at the source, in the order of the manifest")]
    format: Annotated[str, Field(description="What the files were taken for; empty before they are judged")] = ""
    unit_taken: Annotated[
        str, Field(description="Unit that the values were taken to be in, and why; empty before they are judged")
    ] = ""
    forced_format: Annotated[str | None, Field(description="Format that the user named, if any")] = None
    unit: Annotated[Literal["ms", "us", "ns"] | None, Field(description="Of histograms' values, if given")] = None
    tags: Annotated[tuple[str, ...], Field(description="Of logs with tags, those that are judged; none: all")] = ()
    columns: Annotated[
        LeftOutIfEmpty[dict[str, str]], Field(description="Of a log of operations: what each column holds, if given")
    ] = {}
    operations: Annotated[dict[str, str], Field(description="Further operations' names → reads or writes")] = {}
    environment: Annotated[dict[str, str], Field(description="Facts as stated by the person who imported it")] = {}
    unknown: Annotated[
        tuple[str, ...],
        Field(description="Facts that nobody stated, and the definition's keys left at their defaults"),
    ] = ()
    imported_at: AwareDatetime
