"""Turn refusals of S3 into errors of the store with advice."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, PartialCredentialsError

from plimsoll.adapters.aws import WHERE_KEYS_COME_FROM
from plimsoll.domain.text.errors import NotFound, SecretError, StoreError

# 404: the answer to a HEAD request has no body with a code, only its status
_MISSING = frozenset({"NoSuchKey", "NoSuchUpload", "404", "NotFound"})
_MENDING = {
    "NoSuchBucket": "make the bucket, or name another one in PLIMSOLL_STORE",
    "InvalidBucketName": "name a bucket in PLIMSOLL_STORE: s3://bucket/prefix",
    "AccessDenied": "allow the connection's user this action on the bucket; docs/guides/aws.md has the whole policy",
    "403": "allow the connection's user to list and read the bucket; docs/guides/aws.md has the whole policy",
    "InvalidAccessKeyId": "check the credentials of the store's connection",
    "SignatureDoesNotMatch": "check the credentials of the store's connection",
    "ExpiredToken": "renew the credentials of the store's connection",
    "PermanentRedirect": "name the bucket's own region in the store's connection",
    "SlowDown": "the bucket is asked too much at once: run fewer cells at once",
}
_ELSE = "check that PLIMSOLL_STORE names a bucket that exists and can be reached"


class Refused(StoreError):
    """An error with S3's own code, and whether the request had been sent before."""

    def __init__(self, what: str, *, where: str, mend: str, code: str, repeated: bool) -> None:
        super().__init__(what, where=where, mend=mend)
        self.code, self.repeated = code, repeated


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Raise what boto3 and the source of credentials raise as an error of the store: NotFound, Refused or StoreError.

    `where` is the address that was asked for.
    """
    try:
        yield
    except SecretError as error:  # whoever uses a store is prepared for its errors only, whatever keeps it away
        raise StoreError(error.what, where=error.where, mend=error.mend) from error
    except ClientError as error:
        fault = error.response.get("Error", {})
        repeated = bool(error.response.get("ResponseMetadata", {}).get("RetryAttempts"))
        what = f"{error.operation_name}: {fault.get('Message', '')}"
        raise error_of(where, str(fault.get("Code", "")), what, repeated=repeated) from error
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise StoreError(f"no AWS credentials: {error}", where=where, mend=WHERE_KEYS_COME_FROM) from error
    except (BotoCoreError, OSError) as error:
        raise StoreError(f"can't be used: {error}", where=where, mend=_ELSE) from error


def error_of(where: str, code: str, what: str, *, repeated: bool = False) -> StoreError | NotFound:
    """Return the error for S3's code: NotFound for a file that is missing, else Refused with what to do."""
    if code in _MISSING:
        return NotFound("the store holds no such file", where=where)
    mend = _MENDING.get(code, _ELSE)
    return Refused(f"can't be used: {what} ({code})", where=where, mend=mend, code=code, repeated=repeated)
