"""How a campaign begins beside a person and a schedule, by an event of an asset of Airflow; and a person's approval of
what it may cost, before its hosts are launched.
"""

from datetime import timedelta
from typing import Annotated, Any

from pydantic import AwareDatetime, Field

from plimsoll.domain.keys.parameters import Value
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import PositiveDuration, Usd, show_usd
from plimsoll.domain.text.wording import plural


class MessageQueue(Model):
    """A queue of AWS SQS. Each of its messages is an event of the asset: a JSON object with values of parameters, or a
    bucket's notification of a new object that has them.
    """

    url: Annotated[
        str,
        Field(
            pattern=r"^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._-]+)+$",
            max_length=300,
            description="URL of the queue",
            examples=["https://sqs.eu-west-1.amazonaws.com/123456789012/builds"],
        ),
    ]
    connection: Annotated[
        str,
        Field(
            min_length=1,
            max_length=200,
            description="Airflow connection to AWS, by which the queue and the objects are read",
        ),
    ] = "aws_default"


class Trigger(Model):
    """The event that begins a campaign in Airflow. It may give values to the definition's `parameters`."""

    asset: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]*$",
            max_length=200,
            description="Name of an asset of Airflow: each event of it begins a campaign",
            examples=["cassandra-release"],
        ),
    ]
    queue: Annotated[
        LeftOutIfEmpty[MessageQueue | None], Field(description="Queue whose messages are events of the asset")
    ] = None


_MESSAGE: Any = Field(description="Id of the queue's message that was the event, if one was")


class SkippedEvent(Model):
    """An event for which no campaign began, because a newer one had come before the run could begin."""

    at: AwareDatetime
    extra: Annotated[str, Field(description="What it gave to parameters, in words")]
    message: Annotated[LeftOutIfEmpty[str], _MESSAGE] = ""

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} UTC ({self.extra or 'no values'})"


class BegunBy(Model):
    """The record of the event by which a campaign began."""

    asset: str
    at: AwareDatetime
    installation: Annotated[LeftOutIfEmpty[str], Field(description="The Airflow that it came to, by its own id")] = ""
    values: Annotated[dict[str, Value], Field(description="What it gave to parameters")] = {}
    message: Annotated[LeftOutIfEmpty[str], _MESSAGE] = ""
    skipped: Annotated[
        LeftOutIfEmpty[tuple[SkippedEvent, ...]],
        Field(description="Earlier events that waited with it, the newest first: no campaign began for these"),
    ] = ()
    more_skipped: Annotated[LeftOutIfEmpty[int], Field(description="Number of still earlier ones")] = 0

    @property
    def messages(self) -> frozenset[str]:
        """Return the messages of a queue that it stands for."""
        return frozenset({self.message, *(event.message for event in self.skipped)} - {""})

    def __str__(self) -> str:
        """Return `begun by an event of cassandra-release, 2026-01-31 12:00:00 UTC`, and the events it stands before."""
        begun = f"begun by an event of {self.asset}, {self.at:%Y-%m-%d %H:%M:%S} UTC"
        if not self.skipped:
            return begun
        more = f" and {self.more_skipped:,} earlier ones" if self.more_skipped else ""
        count = plural(len(self.skipped) + self.more_skipped, "event")
        return f"{begun}, in place of {count} before it: {', '.join(map(str, self.skipped))}{more}"


Begun = Annotated[
    LeftOutIfEmpty[BegunBy | None], Field(description="The event of an asset by which it began, if one did")
]
GivenValues = Annotated[LeftOutIfEmpty[dict[str, Value]], Field(description="Values of the definition's parameters")]


_LONGEST_WAIT = timedelta(days=90)


class Approve(Model):
    """When a campaign waits for a person's approval before hosts are launched."""

    above: Annotated[Usd, Field(ge=0, description="It waits if it may cost more than this, or if no price is known")]
    within: Annotated[
        PositiveDuration, Field(le=_LONGEST_WAIT, description="How long it waits for an answer; then its run fails")
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
