"""AWS's error codes in words: what happened and how to mend it."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    HTTPClientError,
    NoCredentialsError,
    PartialCredentialsError,
)

from plimsoll.adapters.aws import REFUSED_CREDENTIALS, WHERE_KEYS_COME_FROM
from plimsoll.domain.text.errors import CloudOutOfReach, ProviderError, SecretError

CAPACITY = frozenset(
    {
        "InsufficientInstanceCapacity",
        "InsufficientHostCapacity",
        "InsufficientCapacityOnHost",
        "InsufficientFreeAddressesInSubnet",
        # AWS gives this one as the reason of an instance that ended while it started
        "Server.InsufficientInstanceCapacity",
    }
)
"""Refusals that another zone may not make."""
QUOTA = frozenset({"VcpuLimitExceeded", "InstanceLimitExceeded"})
"""Refusals that end when another cell ends."""
FAILED = frozenset(
    {"InternalError", "InternalFailure", "ServerInternal", "ServiceUnavailable", "Unavailable"}
    | {"500", "502", "503", "504"}
)
"""AWS itself failed: the work may be done all the same. Numbers are the status of answers without a body."""
UNSURE = FAILED | {""}
"""AWS failed, or no answer came, which has no code."""
THROTTLED = frozenset(
    {
        "BandwidthLimitExceeded",
        "EC2ThrottledException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
"""The account asks more than AWS answers."""
LATER = UNSURE | THROTTLED | REFUSED_CREDENTIALS
"""Refusals that AWS may not repeat later, whatever the request: it failed, throttles, or credentials are renewed."""
DENIED = frozenset({"UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "403"})
"""The credentials are known, and may not do this."""

_CREDENTIALS = "check the connection's credentials; `aws sts get-caller-identity` says whose they are"
_OPTIONS = "correct the definition's provider.options"
_MENDING: Mapping[str, str] = {
    "AuthFailure": _CREDENTIALS,
    "Blocked": "the account is blocked: contact AWS Support",
    **dict.fromkeys(("ExpiredToken", "ExpiredTokenException"), "renew the connection's temporary credentials"),
    "RequestExpired": "set this machine's clock, or renew the connection's temporary credentials",
    "InvalidClientTokenId": _CREDENTIALS,
    "UnrecognizedClientException": _CREDENTIALS,
    "SignatureDoesNotMatch": _CREDENTIALS,
    "OptInRequired": "enable the region for the account, or choose another region",
    "PendingVerification": "the account is being verified: try again later, or contact AWS Support",
    "InsufficientInstanceCapacity": "name further zones or subnets in provider.options, or run fewer cells at once",
    "InsufficientHostCapacity": "name further zones or subnets in provider.options, or use the default tenancy",
    "InsufficientFreeAddressesInSubnet": "name a larger or a further subnet in provider.options, or run fewer cells",
    "VcpuLimitExceeded": "ask for a higher quota of vCPUs for this family of instances, or run fewer cells at once",
    "InstanceLimitExceeded": "ask for a higher quota of instances, or run fewer cells at once",
    "VolumeLimitExceeded": "ask for a higher quota of EBS storage, or run fewer cells at once",
    "MaxIOPSLimitExceeded": "ask for a higher quota of EBS throughput, or run fewer cells at once",
    "PlacementGroupLimitExceeded": "remove placement groups that nobody uses, or ask for a higher quota",
    "InvalidAMIID.Malformed": "name an image of the region in provider.options.image: ami-… or an SSM parameter",
    "InvalidAMIID.NotFound": "name an image of the region in provider.options.image: images differ by region",
    "InvalidAMIID.Unavailable": "name another image in provider.options.image",
    "InvalidGroup.NotFound": "name a security group of the subnets' VPC in provider.options.security_group",
    "InvalidGroupId.Malformed": "name a security group (sg-… or its name) in provider.options.security_group",
    "InvalidSubnetID.NotFound": "name subnets of the region in provider.options.subnets",
    "InvalidInstanceType": "name a type that the region has in provider.options.instance_types",
    "InvalidInstanceID.NotFound": "the instance is gone: run the cell again",
    "InvalidParameterCombination": _OPTIONS,
    "InvalidParameterValue": _OPTIONS,
    "Unsupported": "the zone does not offer this type with these options: name other zones or another type",
    "UnsupportedOperation": "the type does not allow this: name another type, tenancy or placement group",
    "OperationNotPermitted": "turn the instance's termination protection off, then destroy the cluster again; its own "
    "timer ends it in any case",
    "IncorrectInstanceState": "wait until the instance has settled, then try again",
    "DependencyViolation": "something else still uses it: remove that first, then destroy the cluster again",
    **dict.fromkeys(THROTTLED, "the account asks too much of the API: run fewer cells at once"),
    **dict.fromkeys(("InternalError", "InternalFailure"), "AWS failed: try again; its health dashboard may say more"),
    **dict.fromkeys(("Unavailable", "ServiceUnavailable"), "AWS is overloaded there: try again later"),
    "ParameterNotFound": "name an SSM parameter that the region has in provider.options.image",
}
_PERFORM = re.compile(r"perform: ([a-z0-9-]+:[A-Za-z]+)")


class CloudError(ProviderError):
    """A call that AWS refused. `code` is AWS's own code; empty where there was no answer.

    `repeated`: the client sent the request several times, so AWS may have done it before it refused it.
    """

    def __init__(self, what: str, *, where: str = "", mend: str = "", code: str = "", repeated: bool = False) -> None:
        super().__init__(what, where=where, mend=mend)
        self.code, self.repeated = code, repeated


class NoAnswer(CloudError, CloudOutOfReach):
    """A call without any answer."""


@contextmanager
def explained(service: str, where: str) -> Iterator[None]:
    """Turn errors of calls to that service into CloudError, and missing credentials into SecretError."""
    try:
        yield
    except ClientError as error:
        fault: Any = error.response.get("Error", {})
        code, message = str(fault.get("Code", "")), str(fault.get("Message", ""))
        what = f"{error.operation_name} was refused: {message or 'no reason given'} ({code})"
        mend = mending(code, message, f"{service}:{error.operation_name}")
        repeated = bool(error.response.get("ResponseMetadata", {}).get("RetryAttempts"))
        raise CloudError(what, where=where, mend=mend, code=code, repeated=repeated) from error
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise SecretError(f"no AWS credentials: {error}", where=where, mend=WHERE_KEYS_COME_FROM) from error
    except (ConnectionError, HTTPClientError) as error:
        mend = "check the region, the connection's endpoint_url, and the network between here and it"
        raise NoAnswer(f"{service} can't be reached: {error}", where=where, mend=mend) from error
    except BotoCoreError as error:
        raise CloudError(f"{service} can't be asked: {error}", where=where, mend=_OPTIONS) from error


def mending(code: str, message: str, action: str) -> str:
    """Return the advice for a refusal with that code. For a missing permission it names the action to allow."""
    if code in DENIED:
        named = _PERFORM.search(message)
        return f"allow the action {named[1] if named else action}; docs/guides/aws.md has the whole policy"
    return _MENDING.get(code, "look the code up in the EC2 API reference; the message above is AWS's own")
