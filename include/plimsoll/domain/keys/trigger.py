"""What begins a campaign beside a person and a schedule: an event of an asset of Airflow."""

from typing import Annotated, Any

from pydantic import AwareDatetime, Field

from plimsoll.domain.keys.parameters import Value
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
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
