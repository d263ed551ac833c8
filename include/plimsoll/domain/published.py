"""A publication that a definition stands for: what it says, and what is otherwise here."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from plimsoll.domain.base import LeftOutIfEmpty, Model


class PublishedRow(Model):
    """One thing that the publication says or leaves open, beside what the campaign does.

    Without `here` the campaign does as published. Without `published` the publication does not say it.
    """

    what: Annotated[str, Field(min_length=1, max_length=60, description="What the row is about, such as `driver`")]
    keys: Annotated[
        LeftOutIfEmpty[tuple[str, ...]],
        Field(description="Keys of the definition that hold it, such as `workload.read_share`"),
    ] = ()
    published: Annotated[
        LeftOutIfEmpty[str], Field(max_length=400, description="What was published. Empty: it was not")
    ] = ""
    here: Annotated[
        LeftOutIfEmpty[str], Field(max_length=400, description="What is done here. Empty: as published")
    ] = ""

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
