"""Refusals as each of AWS's protocols words them."""

import json
from uuid import uuid4
from xml.sax.saxutils import escape

from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response

_EC2 = (
    "<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors>"
    "<RequestID>{id}</RequestID></Response>"
)
_S3 = "<Error><Code>{code}</Code><Message>{message}</Message><RequestId>{id}</RequestId></Error>"
_QUERY = (
    "<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>"
    "<RequestId>{id}</RequestId></ErrorResponse>"
)
_XML = {"ec2": _EC2, "s3": _S3, "sts": _QUERY, "iam": _QUERY}
# AWS answers these as faults of its own; clients treat them otherwise than the 400s.
_STATUS = {
    "InsufficientInstanceCapacity": 500,
    "RequestLimitExceeded": 503,
    "SlowDown": 503,
    "UnauthorizedOperation": 403,
    "AccessDenied": 403,
}
_DENIED = {"ec2": "UnauthorizedOperation", "s3": "AccessDenied", "sts": "AccessDenied", "iam": "AccessDenied"}
_EXPIRED = {"ec2": "RequestExpired", "s3": "ExpiredToken", "sts": "ExpiredToken", "iam": "ExpiredToken"}
_THROTTLED = {"ec2": "RequestLimitExceeded", "s3": "SlowDown", "sts": "Throttling", "iam": "Throttling"}


class Refused(HTTPException):
    """A refusal in the middle of a call to EC2."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(description=_EC2.format(code=code, message=escape(message), id=uuid4()))
        self.code = _STATUS.get(code, 400)

    def get_headers(self, *_: object, **__: object) -> list[tuple[str, str]]:
        """Return the headers of XML, as every answer of EC2 has them."""
        return [("Content-Type", "text/xml;charset=UTF-8")]


def refusal(service: str, code: str, message: str) -> Response:
    """Return a refusal by any service, before the call got there."""
    if service in _XML:
        body = _XML[service].format(code=code, message=escape(message), id=uuid4())
        return Response(body, _STATUS.get(code, 400), content_type="text/xml;charset=UTF-8")
    return Response(json.dumps({"__type": code, "message": message}), 400, content_type="application/x-amz-json-1.1")


def denied(service: str, action: str) -> Response:
    """Return the caller lacks a permission; names it as AWS does."""
    who = "arn:aws:iam::123456789012:user/plimsoll"
    what = f"User: {who} is not authorized to perform: {service}:{action}"
    reason = f"because no identity-based policy allows the {service}:{action} action"
    if service == "ec2":
        what = f"You are not authorized to perform this operation. {what}"
    return refusal(service, _DENIED.get(service, "AccessDeniedException"), f"{what} on resource: * {reason}")


def expired(service: str) -> Response:
    """Refuse a request that is signed by a key that does not count any more."""
    message = "Request has expired." if service == "ec2" else "The provided token has expired."
    return refusal(service, _EXPIRED.get(service, "ExpiredTokenException"), message)


def throttled(service: str) -> Response:
    """Refuse a request because there were too many calls."""
    message = "Request limit exceeded." if service == "ec2" else "Please reduce your request rate."
    return refusal(service, _THROTTLED.get(service, "ThrottlingException"), message)
