"""A person's approval of what a campaign may cost, before its hosts are launched."""

from datetime import timedelta
from typing import Annotated

from pydantic import AwareDatetime, Field

from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import PositiveDuration, Usd, show_usd

_LONGEST = timedelta(days=90)


class Approve(Model):
    """When a campaign waits for a person's approval before hosts are launched."""

    above: Annotated[Usd, Field(ge=0, description="It waits if it may cost more than this, or if no price is known")]
    within: Annotated[
        PositiveDuration, Field(le=_LONGEST, description="How long it waits for an answer; then its run fails")
    ] = timedelta(days=3)

    def is_needed_for(self, usd: float | None) -> bool:
        """Tell whether a campaign that may cost so much, USD, needs an approval. An unknown cost (None) does."""
        return usd is None or usd > self.above


class ApprovalQuestion(Model):
    """The record of what a person was asked to approve."""

    at: AwareDatetime
    usd: Annotated[
        float | None,
        Field(description="What the campaign may cost at most, as it was shown, US dollars; null: not known"),
    ]

    def covers(self, usd: float | None) -> bool:
        """Tell whether it is about a campaign that may cost so much, USD. A known cost says nothing of an unknown."""
        return usd == self.usd if usd is None or self.usd is None else usd <= self.usd


class Approval(ApprovalQuestion):
    """The record that a person has approved what a campaign may cost."""

    by: Annotated[str, Field(description="The person, as Airflow or the operating system names the user")]

    def __str__(self) -> str:
        """Return `approved by ada, 2026-01-31 12:00 UTC, for at most 1,200.00 USD`."""
        cost = "at an unknown cost" if self.usd is None else f"for at most {show_usd(self.usd)}"
        return f"approved by {self.by}, {self.at:%Y-%m-%d %H:%M} UTC, {cost}"


Approvals = Annotated[
    LeftOutIfEmpty[tuple[Approval, ...]], Field(description="Who approved what the campaign may cost, and when")
]
