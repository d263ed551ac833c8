"""Campaigns that begin by messages of a queue, on a running Airflow and moto's SQS and S3."""

import json
from collections.abc import Iterator

import httpx
import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.support.airflow.rest import logged_in
from tests.support.airflow.stack import StackUnderTest
from tests.support.cloud.queues import KEYS, Account, running_account
from tests.support.processes import until
from tests.support.suite.requirements import long

from plimsoll.domain.keys.parameters import Parameter
from plimsoll.domain.keys.trigger import Trigger
from plimsoll.services.definitions.reference import dump_definition

NAME, CONNECTION = "from-a-queue", "queue_account"
DAG = "from_a_queue"
END_S = 300.0

pytestmark = [pytest.mark.timeout(1800), long("the queue's reader is in tests/airflow")]


@pytest.fixture(scope="module")
def account() -> Iterator[Account]:
    with running_account() as account:
        account.make_queue()
        yield account


@pytest.fixture(scope="module")
def airflow(shared_airflow: StackUnderTest, installation: Installation, account: Account) -> Iterator[StackUnderTest]:
    """Provide one with a definition that begins by messages of the queue, whose DAG somebody has unpaused."""
    trigger = {"asset": "builds", "queue": {"url": account.queue_url, "connection": CONNECTION}}
    update = {
        "title": "Build $(version)",
        "parameters": {"version": Parameter(type="text", default="4.0.1")},
        "trigger": Trigger.model_validate(trigger),
    }
    definition = instant_definition(NAME, variants=1, loads=1).model_copy(update=update)
    installation.write_definition(NAME, dump_definition(definition).replace("$$(", "$("))
    shared_airflow.connect(CONNECTION, extra=account.extra, **KEYS)
    shared_airflow.client.set_pool("clusters", 4, "How many clusters may live at once")
    until(lambda: shared_airflow.client.dag(DAG) is not None, lambda: "the DAG", patience_s=END_S)
    shared_airflow.client.unpause(DAG)
    yield shared_airflow
    (installation.folder / "campaigns" / f"{NAME}.yaml").unlink()


def campaigns(api: httpx.Client) -> list[dict[str, object]]:
    listed = api.get("/plimsoll/api/v1/campaigns", params={"definition": NAME}).raise_for_status().json()
    ids = [campaign["campaign_id"] for campaign in listed]
    return [api.get(f"/plimsoll/api/v1/campaigns/{id_}").raise_for_status().json() for id_ in ids]


def test_a_buckets_notification_begins_a_campaign_with_the_values_of_its_object_and_a_message_with_its_own(
    airflow: StackUnderTest, account: Account
) -> None:
    account.send({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "builds"})
    account.send("no message of anybody who knows of parameters")
    sent = [account.send(account.put("builds/1234.json", json.dumps({"version": "5.0.9"}).encode()))]
    until(lambda: airflow.client.dag_runs(DAG), lambda: "a run", patience_s=END_S)
    assert airflow.wait_for(airflow.client.dag_runs(DAG)[0], timeout_s=END_S).state == "success"

    sent.append(account.send({"version": "5.0.10"}))
    until(lambda: len(airflow.client.dag_runs(DAG)) == 2, lambda: "another run", patience_s=END_S)
    assert airflow.wait_for(airflow.client.dag_runs(DAG)[0], timeout_s=END_S).state == "success"

    with logged_in(airflow) as api:
        newest, first = campaigns(api)
    assert [(found["title"], found["state"]) for found in (first, newest)] == [
        ("Build 5.0.9", "complete"),
        ("Build 5.0.10", "complete"),
    ]
    begun = [found["begun_by"] for found in (first, newest)]
    assert [(by["values"], by["message"]) for by in begun] == [
        ({"version": "5.0.9"}, sent[0]),
        ({"version": "5.0.10"}, sent[1]),
    ]
    until(lambda: account.messages() == 0, lambda: "an empty queue", patience_s=END_S)
