"""The trigger that makes an event of an asset of each message of a queue.

Airflow's own (`SqsSensorTrigger`) needs aiobotocore, which pins botocore, and deletes messages before Airflow has
stored their events.
"""

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import cached_property, partial
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from airflow.triggers.base import BaseEventTrigger, TriggerEvent
from asgiref.sync import sync_to_async

from plimsoll_airflow.runs.asset_events import MESSAGE, VALUES
from plimsoll_airflow.triggers.messages import MOST_BYTES, StoredObject, UnusableMessageError, meaning, values_in
from plimsoll_airflow.wiring.secrets import AirflowSecrets

if TYPE_CHECKING:
    from plimsoll.adapters.aws import RenewedClient

WAIT_S = 20
"""The longest that SQS waits for a message, s."""
HIDDEN_S = 60
"""How long a message that was read is hidden from other readers, s. Then it comes again unless it was deleted."""
STORED_AFTER_S = 5.0
"""The time from an event to the deletion of its message, s. A triggerer stores what a trigger yields about each second,
and does not tell the trigger; a message whose event was lost with a triggerer that was killed comes again.
"""
PAUSES_S = (5.0, 300.0)
"""The first and the longest pause after an error, s. Each is twice the one before."""
_MOST_KNOWN = 1000
_REGION = re.compile(r"^https?://sqs\.([a-z0-9-]+)\.")

_T = TypeVar("_T")


@dataclass(frozen=True)
class Message:
    """A message that was read: the values of each of its events, usually one; none where nothing is to begin."""

    id: str
    receipt: str
    values: tuple[Mapping[str, Any], ...]

    @property
    def events(self) -> Iterator[TriggerEvent]:
        """Yield its events. Those of several objects are of several messages, for whoever counts each message once."""
        for number, values in enumerate(self.values):
            yield _Event({VALUES: dict(values), MESSAGE: f"{self.id}/{number}" if number else self.id})  # type: ignore[call-arg]


class _Event(TriggerEvent):
    """An event whose values the log of the triggerer does not show: they may be secret."""

    def __repr__(self) -> str:
        return f"message {self.payload[MESSAGE]}"

    __str__ = __repr__


class _DaemonThreads(Executor):
    """A thread of its own for each call. A triggerer that stops would wait for those of a pool: for SQS's answer."""

    def submit(self, work: Callable[..., _T], /, *arguments: Any, **named: Any) -> Future[_T]:
        future: Future[_T] = Future()

        def run() -> None:
            try:
                future.set_result(work(*arguments, **named))
            except BaseException as error:  # it is raised where the result is awaited
                future.set_exception(error)

        future.set_running_or_notify_cancel()
        Thread(target=run, name="plimsoll-queue", daemon=True).start()
        return future


_THREADS: Any = _DaemonThreads()  # any executor will do; asgiref asks for a pool


class QueueTrigger(BaseEventTrigger):
    """The reader of that queue. It never ends by itself, and an error is logged and tried again.

    All arguments are plain text: of equal ones Airflow makes one trigger, whatever definitions have it.
    """

    def __init__(self, url: str, connection: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.url, self.connection = url, connection
        self.handed_on: deque[str] = deque(maxlen=_MOST_KNOWN)
        """The newest messages whose events were yielded: they come again where their deletion fails."""

    def serialize(self) -> tuple[str, dict[str, Any]]:
        return f"{__name__}.{type(self).__qualname__}", {"url": self.url, "connection": self.connection}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield an event for each message, and delete the message after that."""
        while True:
            messages = await self._insist(self._receive)
            for message in messages:
                for event in message.events:
                    yield event
                self.handed_on.append(message.id)
            if any(message.values for message in messages):
                await asyncio.sleep(STORED_AFTER_S)
            if messages:
                await self._insist(partial(self._delete, messages))

    async def _insist(self, work: Callable[[], _T]) -> _T:
        """Do the work in a thread until it succeeds."""
        pause_s, longest_s = PAUSES_S
        while True:
            try:
                # By asgiref: before 3.2.2 a triggerer ends if threads that its loop does not know ask for a connection.
                return await sync_to_async(work, thread_sensitive=False, executor=_THREADS)()
            except Exception as error:  # whatever it is, Airflow would not watch the queue any more
                self.log.warning("the queue %s: %s. Trying again in %.0f s", self.url, error, pause_s)
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, longest_s)

    def _receive(self) -> list[Message]:
        """Wait for messages, and return those that could be read."""
        # SQS gives 10 messages at most, and deletes as many in one call
        options = {"MaxNumberOfMessages": 10, "WaitTimeSeconds": WAIT_S, "VisibilityTimeout": HIDDEN_S}
        answer = self._sqs.ask(lambda client: client.receive_message(QueueUrl=self.url, **options))
        return [message for received in answer.get("Messages", ()) if (message := self._read(received)) is not None]

    def _read(self, received: Mapping[str, str]) -> Message | None:
        """Return a message; None where it is to stay in the queue, because AWS may give its object another time."""
        id_, receipt = received["MessageId"], received["ReceiptHandle"]
        if id_ in self.handed_on:
            return Message(id_, receipt, ())
        try:
            content = meaning(received["Body"])
            values = tuple(map(self._content, content)) if isinstance(content, tuple) else (content,)
            return Message(id_, receipt, values)
        except UnusableMessageError as error:
            self.log.warning("the queue %s: nothing begins by message %s, which %s", self.url, id_, error)
            return Message(id_, receipt, ())
        except Exception as error:
            self.log.warning("the queue %s: message %s stays there for another try: %s", self.url, id_, error)
            return None

    def _content(self, stored: StoredObject) -> Mapping[str, Any]:
        from botocore.exceptions import ClientError, ParamValidationError

        try:
            answer = self._s3.ask(lambda client: client.get_object(Bucket=stored.bucket, Key=stored.key))
            with answer["Body"] as content:
                # One byte more than allowed is enough to see that the object is too large
                return values_in(content.read(MOST_BYTES + 1))
        except UnusableMessageError as error:
            raise UnusableMessageError(f"names {stored}, which {error}") from error
        except ParamValidationError as error:
            raise UnusableMessageError(f"names {stored}, which no object can be called") from error
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") in ("NoSuchKey", "NoSuchBucket"):
                raise UnusableMessageError(f"names {stored}, which is not there") from error
            raise

    def _delete(self, messages: Sequence[Message]) -> None:
        """Delete the messages. One that can't be deleted comes again, is known, and is tried again."""
        entries = [{"Id": str(n), "ReceiptHandle": message.receipt} for n, message in enumerate(messages)]
        self._sqs.ask(lambda client: client.delete_message_batch(QueueUrl=self.url, Entries=entries))

    @cached_property
    def _sqs(self) -> "RenewedClient":
        return self._client("sqs")

    @cached_property
    def _s3(self) -> "RenewedClient":
        return self._client("s3")

    def _client(self, service: str) -> "RenewedClient":
        """Return a client for the queue's region, where its URL names it, else for the connection's."""
        from plimsoll.adapters.aws import RenewedClient  # not when DAGs are parsed: boto3

        named = _REGION.match(self.url)
        region = named[1] if named else None
        return RenewedClient(lambda: AirflowSecrets().aws(self.connection).client(service, region))
