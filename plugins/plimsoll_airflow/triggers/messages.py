"""What messages of a queue mean: values of parameters, or new objects of a bucket that hold them. Pure.

Read in AWS's documentation: notifications of S3 straight to a queue, through a topic of SNS, and through EventBridge.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import unquote_plus

from plimsoll.domain.keys.parameters import LARGEST
from plimsoll.domain.text.wording import shortened, visible

MOST_BYTES = 64 << 10
"""The largest message, and the largest object."""
_SHOWN = 60


class UnusableMessageError(Exception):
    """A message, or its object, from which nothing can begin, however often it is read. Says why, and quotes nothing
    but names of keys.
    """


@dataclass(frozen=True)
class StoredObject:
    bucket: str
    key: str

    def __str__(self) -> str:
        return visible(f"s3://{self.bucket}/{self.key}")


def meaning(body: str) -> Mapping[str, Any] | tuple[StoredObject, ...]:
    """Return the values that a message has, or the objects that it names; no object for S3's test of a queue.

    Raises UnusableMessageError.
    """
    message = _json_object(body)
    # SNS puts the text that it was given into a message of its own
    if message.get("Type") == "Notification" and isinstance(message.get("Message"), str):
        message = _json_object(message["Message"])
    if message.get("Event") == "s3:TestEvent":
        return ()
    objects = _objects(message)
    return _plain(message) if objects is None else objects


def values_in(content: bytes) -> Mapping[str, Any]:
    """Return the values that an object's content has. Raises UnusableMessageError."""
    return _plain(_json_object(content))


def _json_object(text: str | bytes) -> dict[str, Any]:
    if len(text) > MOST_BYTES:
        raise UnusableMessageError(f"is larger than {MOST_BYTES >> 10} KiB")
    try:
        parsed = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:  # The latter comes of brackets within brackets
        raise UnusableMessageError("is not JSON") from error
    if not isinstance(parsed, dict):
        raise UnusableMessageError("is no JSON object")
    return parsed


def _no_number(_: str) -> NoReturn:
    raise ValueError("JSON has neither NaN nor infinity")


def _objects(message: Mapping[str, Any]) -> tuple[StoredObject, ...] | None:
    """Return the new objects of a notification; None for a message that is none."""
    try:
        # EventBridge gives keys as they are; S3's own notifications have them encoded as in a URL
        if "detail-type" in message:
            created = [message["detail"]] if message["detail-type"] == "Object Created" else []
            objects = tuple(_object(detail, lambda key: key) for detail in created)
        elif isinstance(message.get("Records"), list):
            records = [record for record in message["Records"] if record["eventName"].startswith("ObjectCreated:")]
            objects = tuple(_object(record["s3"], unquote_plus) for record in records)
        else:
            return None
    except (LookupError, TypeError, AttributeError) as error:
        raise UnusableMessageError("is no notification of S3") from error
    if not objects:
        raise UnusableMessageError("tells of no new object")
    return objects


def _object(names: Any, decoded: Any) -> StoredObject:
    bucket, key = names["bucket"]["name"], names["object"]["key"]
    if not (isinstance(bucket, str) and isinstance(key, str) and _is_plain(bucket + key)):
        raise TypeError
    return StoredObject(bucket, decoded(key))


def _plain(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values, none of which a triggerer, or the database of Airflow, would fail to write."""
    for name, value in values.items():
        if not (_is_plain(name) and _is_plain(value)):
            raise UnusableMessageError(f"{shortened(visible(name), _SHOWN)!r} is neither text nor a number")
    return values


def _is_plain(value: object) -> bool:
    # A lone surrogate has no encoding in UTF-8, and no text in PostgreSQL may contain a NUL
    if isinstance(value, str):
        return not any("\ud800" <= sign <= "\udfff" or sign == "\0" for sign in value)
    return isinstance(value, bool) or (isinstance(value, int | float) and abs(value) <= LARGEST)
