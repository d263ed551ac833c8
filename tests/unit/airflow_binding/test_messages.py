"""What messages of a queue mean: values, or objects of a bucket that hold them."""

import json
from typing import Any

import pytest

from plimsoll_airflow.triggers.messages import (
    MOST_BYTES,
    StoredObject,
    UnusableMessageError,
    meaning,
    values_in,
)

BUILD = StoredObject("builds", "builds/a build+1.json")


def from_s3(*, key: str = "builds/a+build%2B1.json", name: str = "ObjectCreated:Put") -> dict[str, Any]:
    s3 = {"s3SchemaVersion": "1.0", "bucket": {"name": "builds"}, "object": {"key": key, "size": 70}}
    return {"Records": [{"eventVersion": "2.1", "eventSource": "aws:s3", "eventName": name, "s3": s3}]}


def from_event_bridge(kind: str = "Object Created") -> dict[str, Any]:
    detail = {"version": "0", "bucket": {"name": "builds"}, "object": {"key": BUILD.key}, "reason": "PutObject"}
    return {"version": "0", "detail-type": kind, "source": "aws.s3", "detail": detail}


def by_topic(message: Any) -> dict[str, Any]:
    return {"Type": "Notification", "TopicArn": "arn:aws:sns:eu-west-1:1:builds", "Message": json.dumps(message)}


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ({"version": "5.0.9", "rate": 3000}, {"version": "5.0.9", "rate": 3000}),
        ({}, {}),
        (by_topic({"version": "5.0.9"}), {"version": "5.0.9"}),
        (from_s3(), (BUILD,)),
        (by_topic(from_s3()), (BUILD,)),
        (from_event_bridge(), (BUILD,)),
        (by_topic(from_event_bridge()), (BUILD,)),
        ({"Records": from_s3()["Records"] * 2}, (BUILD, BUILD)),
        ({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "builds"}, ()),
        (by_topic({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "builds"}), ()),
    ],
)
def test_a_message_has_values_or_names_new_objects(message: dict[str, Any], found: object) -> None:
    assert meaning(json.dumps(message)) == found


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("version 5", "is not JSON"),
        ("[" * MOST_BYTES, "is not JSON"),
        ('{"rate": NaN}', "is not JSON"),
        ('["5.0.9"]', "is no JSON object"),
        (json.dumps({"version": "x" * MOST_BYTES}), "is larger than 64 KiB"),
        (json.dumps(from_s3(name="ObjectRemoved:Delete")), "tells of no new object"),
        (json.dumps(from_event_bridge("Object Deleted")), "tells of no new object"),
        (json.dumps({"Records": [{"eventName": "ObjectCreated:Put"}]}), "is no notification of S3"),
        (json.dumps({"Records": ["5.0.9"]}), "is no notification of S3"),
        (json.dumps({"detail-type": "Object Created", "detail": {"bucket": {}}}), "is no notification of S3"),
        (json.dumps(from_s3(key=5)), "is no notification of S3"),  # type: ignore[arg-type]
        (json.dumps(from_s3(key="\ud800")), "is no notification of S3"),
        (json.dumps({"version": {"major": 5}}), "'version' is neither text nor a number"),
        ('{"rate": 1e999}', "'rate' is neither text nor a number"),
        ('{"rate": 9223372036854775808}', "'rate' is neither text nor a number"),
        ('{"version": "\\ud800"}', "'version' is neither text nor a number"),
        ('{"ver\\u0000sion": "5"}', r"'ver\\\\x00sion' is neither text nor a number"),
    ],
)
def test_a_message_of_which_nothing_can_begin_is_told_by_a_reason(body: str, reason: str) -> None:
    with pytest.raises(UnusableMessageError, match=reason):
        meaning(body)


def test_an_object_has_the_values_and_is_no_notification_itself() -> None:
    assert values_in(b'{"version": "5.0.9", "sha256": "9f2c"}') == {"version": "5.0.9", "sha256": "9f2c"}
    with pytest.raises(UnusableMessageError, match="is not JSON"):
        values_in(b"\xff\xfe{")
    with pytest.raises(UnusableMessageError, match="'Records' is neither text nor a number"):
        values_in(json.dumps(from_s3()).encode())
