"""The trigger that reads a queue, on moto's SQS and S3, in an event loop of its own, as the triggerer runs it."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from airflow.triggers.base import TriggerEvent
from botocore.exceptions import ClientError
from tests.support.cloud.queues import Account, running_account
from tests.support.processes import PATIENCE_S

from plimsoll.ports.secrets import AwsAccess
from plimsoll_airflow.triggers import queue
from plimsoll_airflow.triggers.messages import MOST_BYTES, StoredObject
from plimsoll_airflow.triggers.queue import QueueTrigger


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    """Provide one with a queue, whose messages come again at once. Nobody waits for anything."""
    for name, value in (("WAIT_S", 1), ("HIDDEN_S", 0), ("STORED_AFTER_S", 0.0), ("PAUSES_S", (0.0, 0.0))):
        monkeypatch.setattr(queue, name, value)
    with running_account() as account:
        monkeypatch.setenv("AIRFLOW_CONN_AWS_DEFAULT", account.connection)
        account.make_queue()
        yield account


@asynccontextmanager
async def reading(account: Account) -> AsyncIterator[AsyncIterator[TriggerEvent]]:
    """Provide the events of a trigger, as a triggerer gets them."""
    events = QueueTrigger(account.queue_url, "aws_default").run()
    try:
        yield events
    finally:
        await events.aclose()  # type: ignore[attr-defined]


async def following(events: AsyncIterator[TriggerEvent]) -> TriggerEvent:
    return await asyncio.wait_for(anext(events), PATIENCE_S)


def values_until(account: Account, last: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return what the events give up to one with these values, after whose message the queue is empty."""

    async def read() -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        async with reading(account) as events:
            while last not in found:
                found.append((await following(events)).payload["values"])
            more = asyncio.ensure_future(anext(events))
            while account.messages():
                assert not more.done()
                await asyncio.sleep(0.01)
            more.cancel()
            await asyncio.wait([more])
        return found

    return asyncio.run(read())


def test_a_message_is_an_event_and_deleted_after_it(account: Account) -> None:
    async def read() -> None:
        async with reading(account) as events:
            sent = account.send({"version": "5.0.9", "token": "hunter2"})
            event = await following(events)
            assert event.payload == {"values": {"version": "5.0.9", "token": "hunter2"}, "message": sent}
            assert "hunter2" not in f"{event} {event!r}", "a triggerer logs it"
            assert account.messages() == 1, "nobody may have stored the event"

            other = account.send({"version": "5.0.10"})
            assert (await following(events)).payload["message"] == other
            assert account.messages() == 1

    asyncio.run(read())


def test_a_message_whose_reader_ended_comes_again_with_the_same_id(account: Account) -> None:
    async def first() -> TriggerEvent:
        async with reading(account) as events:
            return await following(events)

    sent = account.send({"version": "5.0.9"})
    assert [asyncio.run(first()).payload["message"] for _ in range(2)] == [sent, sent]


def test_a_message_that_could_not_be_deleted_is_no_second_event(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    delete, tries = QueueTrigger._delete, iter([False])
    monkeypatch.setattr(QueueTrigger, "_delete", lambda *given: delete(*given) if next(tries, True) else None)
    account.send({"version": "5.0.9"})

    assert values_until(account, {"version": "5.0.9"}) == [{"version": "5.0.9"}]


def test_a_notification_gives_the_values_of_the_object_that_it_names(account: Account) -> None:
    account.send({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "builds"})
    account.send(account.put("builds/1234.json", b'{"version": "5.0.9", "sha256": "9f2c"}'))

    values = {"version": "5.0.9", "sha256": "9f2c"}
    assert values_until(account, values) == [values]


def test_messages_of_which_nothing_can_begin_are_told_and_deleted(
    account: Account, capsys: pytest.CaptureFixture[str]
) -> None:
    account.send("hunter2")
    account.send(account.put("large.json", b'"%s"' % (b"x" * MOST_BYTES)))
    account.send(account.put("list.json", b'["hunter2"]'))
    gone = account.put("gone.json", b"{}")
    account.s3.delete_object(Bucket="builds", Key="gone.json")
    account.send(gone)
    account.send({"version": "last"})

    assert values_until(account, {"version": "last"}) == [{"version": "last"}]
    told = capsys.readouterr().out
    assert "which is not JSON" in told
    assert "s3://builds/large.json, which is larger than 64 KiB" in told
    assert "s3://builds/list.json, which is no JSON object" in told
    assert "s3://builds/gone.json, which is not there" in told
    assert "hunter2" not in told


def test_a_message_stays_while_aws_does_not_give_its_object(
    account: Account, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content, tries = QueueTrigger._content, iter(["SlowDown", "AccessDenied"])

    def at_the_third_try(trigger: QueueTrigger, stored: StoredObject) -> Mapping[str, Any]:
        if code := next(tries, None):
            raise ClientError({"Error": {"Code": code, "Message": "told"}}, "GetObject")
        return content(trigger, stored)

    monkeypatch.setattr(QueueTrigger, "_content", at_the_third_try)
    account.send(account.put("builds/1234.json", b'{"version": "5.0.9"}'))

    assert values_until(account, {"version": "5.0.9"}) == [{"version": "5.0.9"}]
    assert "stays there for another try: An error occurred (AccessDenied)" in capsys.readouterr().out


def test_an_error_does_not_end_the_reader(account: Account, capsys: pytest.CaptureFixture[str]) -> None:
    account.sqs.delete_queue(QueueUrl=account.queue_url)

    async def read() -> Any:
        async with reading(account) as events:
            event = asyncio.ensure_future(following(events))
            while "Trying again" not in capsys.readouterr().out:
                assert not event.done()
                await asyncio.sleep(0.01)
            account.make_queue()
            account.send({"version": "5.0.9"})
            return (await event).payload["values"]

    assert asyncio.run(read()) == {"version": "5.0.9"}


def test_the_region_is_that_of_the_queue_where_its_url_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str | None]] = []
    access = AwsAccess(lambda service, region: asked.append((service, region)))
    monkeypatch.setattr("plimsoll_airflow.triggers.queue.AirflowSecrets.aws", lambda *_: access)
    for url in ("https://sqs.ap-south-1.amazonaws.com/123456789012/builds", "http://127.0.0.1:5000/1/builds"):
        QueueTrigger(url, "aws_default")._sqs()

    assert asked == [("sqs", "ap-south-1"), ("sqs", None)]
