"""Where figures come from: a publication that a definition stands for, or, of an imported attempt, a run that somebody
measured without Plimsoll, judged by the same rules.

Also the software that a campaign needs from a registry or an archive.
"""

from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from plimsoll.domain.text.base import LeftOutIfEmpty, Model

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
"""The facts that Plimsoll reads from the hosts of a cell that it runs. Of an import, only what somebody states."""


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
    loaders: Annotated[
        LeftOutIfEmpty[dict[str, tuple[str, ...]]],
        Field(description="Load generators that shared the load, each with its files; none: not told apart"),
    ] = {}
    environment: Annotated[dict[str, str], Field(description="Facts as stated by the person who imported it")] = {}
    unknown: Annotated[
        tuple[str, ...],
        Field(description="Facts that nobody stated, and the definition's keys left at their defaults"),
    ] = ()
    imported_at: AwareDatetime


class PublishedRow(Model):
    """One thing that the publication says or leaves open, beside what the campaign does."""

    what: Annotated[str, Field(min_length=1, max_length=60, description="What the row is about, such as `driver`")]
    keys: Annotated[LeftOutIfEmpty[tuple[str, ...]], Field(description="Keys of the definition that hold it")] = ()
    published: Annotated[
        LeftOutIfEmpty[str], Field(max_length=400, description="As published; empty: the publication does not say it")
    ] = ""
    here: Annotated[LeftOutIfEmpty[str], Field(max_length=400, description="As done here; empty: as published")] = ""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.published or self.here):
            raise ValueError("says neither what was published nor what is done here")
        return self

    @property
    def texts(self) -> tuple[str, str, str]:
        """Return the row as people read it: what, as published, here."""
        return self.what, self.published or "not published", self.here or "as published"


class Published(Model):
    """A publication beside the campaign that stands for it, as a table that `plan` and the report show."""

    publication: Annotated[str, Field(min_length=1, description="Author, title and year")]
    rows: Annotated[tuple[PublishedRow, ...], Field(min_length=1, description="As published, and here")]


class Download(Model):
    """One download, whether it is still to come or in the cache."""

    name: Annotated[str, Field(description="What it is, for people")]
    size_bytes: Annotated[int | None, Field(description="Size of what is fetched; null: known only once it is")]
    is_there: Annotated[bool, Field(description="Whether it is in the cache, so that nothing is fetched")]

    def __str__(self) -> str:
        """Format the download as `cassandra-stress (53 MB)`."""
        size = "size not known before" if self.size_bytes is None else f"{self.size_bytes / 1_000_000:,.0f} MB"
        return f"{self.name} ({size})"
