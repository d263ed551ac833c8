"""A piece of software that a campaign needs from a registry or an archive."""

from typing import Annotated

from pydantic import Field

from plimsoll.domain.base import Model


class Download(Model):
    """One download, whether it is still to come or in the cache."""

    name: Annotated[str, Field(description="What it is, for people")]
    size_bytes: Annotated[int | None, Field(description="Size of what is fetched; null: known only once it is")]
    is_there: Annotated[bool, Field(description="Whether it is in the cache, so that nothing is fetched")]

    def __str__(self) -> str:
        """Format the download as `cassandra-stress (53 MB)`."""
        size = "size not known before" if self.size_bytes is None else f"{self.size_bytes / 1_000_000:,.0f} MB"
        return f"{self.name} ({size})"
