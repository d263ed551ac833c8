"""A note on a campaign, for everybody who reads its results."""

from typing import Annotated

from pydantic import AwareDatetime, Field

from plimsoll.domain.text.base import Model

LONGEST_NOTE = 2_000


class Note(Model):
    """The text of a note, its author and its time."""

    text: Annotated[str, Field(min_length=1, max_length=LONGEST_NOTE)]
    by: str
    at: AwareDatetime
