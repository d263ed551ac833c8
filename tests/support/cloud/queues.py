"""moto's SQS and S3 as a server: a queue, its bucket, and the connection of Airflow that leads there."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import boto3
from moto.moto_api._internal.models import moto_api_backend
from moto.server import ThreadedMotoServer

REGION, BUCKET = "eu-west-1", "builds"
KEYS = {"conn_type": "aws", "login": "testing", "password": "testing"}
"""What the connection of Airflow has beside its extra."""


@dataclass(frozen=True)
class Account:
    """An account of AWS with a bucket, and a queue where a test makes one."""

    endpoint: str

    @property
    def connection(self) -> str:
        """Return the connection of Airflow that leads there, as a variable `AIRFLOW_CONN_…` has it."""
        return json.dumps({**KEYS, "extra": self.extra})

    @property
    def extra(self) -> Mapping[str, str]:
        """Return the extra of that connection."""
        return {"endpoint_url": self.endpoint, "region_name": REGION}

    @property
    def queue_url(self) -> str:
        """Return the URL that the queue has, once it is made."""
        return f"{self.endpoint}/123456789012/builds"

    @cached_property
    def sqs(self) -> Any:
        """Return a client."""
        return self._client("sqs")

    @cached_property
    def s3(self) -> Any:
        """Return a client."""
        return self._client("s3")

    def make_queue(self) -> None:
        """Make the queue."""
        assert self.sqs.create_queue(QueueName="builds")["QueueUrl"] == self.queue_url

    def send(self, message: object) -> str:
        """Send a message, a text or something that becomes JSON. Returns its id."""
        body = message if isinstance(message, str) else json.dumps(message)
        return str(self.sqs.send_message(QueueUrl=self.queue_url, MessageBody=body)["MessageId"])

    def put(self, key: str, content: bytes) -> dict[str, Any]:
        """Put an object into the bucket. Returns the notification of it."""
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=content)
        s3 = {"bucket": {"name": BUCKET}, "object": {"key": key}}
        return {"Records": [{"eventSource": "aws:s3", "eventName": "ObjectCreated:Put", "s3": s3}]}

    def messages(self) -> int:
        """Return the number of messages in the queue, those among them that a reader has in hand too."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        found = self.sqs.get_queue_attributes(QueueUrl=self.queue_url, AttributeNames=names)["Attributes"]
        return sum(int(found[name]) for name in names)

    def _client(self, service: str) -> Any:
        keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
        return boto3.client(service, REGION, endpoint_url=self.endpoint, **keys)  # type: ignore[call-overload]


@contextmanager
def running_account() -> Iterator[Account]:
    """Provide the account, until the end of the block; one at a time, because moto keeps its data per process.

    Its requests are not answered in turn: one that waits for a message would hold up the one that sends it.
    """
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        moto_api_backend.reset()
        account = Account("http://{}:{}".format(*server.get_host_and_port()))
        account.s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        yield account
    finally:
        moto_api_backend.reset()
        server.stop()
