"""A note on a campaign: what people should know who read its results."""

from typing import Annotated

from pydantic import AwareDatetime, Field

from plimsoll.domain.base import Model

LONGEST_NOTE = 2_000


class Note(Model):
    """What somebody wrote, who it was, and when."""

    text: Annotated[str, Field(min_length=1, max_length=LONGEST_NOTE)]
    by: str
    at: AwareDatetime
