"""Which call of which service a request is, by IAM's names."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

from tests.cloud.turns import whole_body

_OBJECT = {"GET": "GetObject", "HEAD": "GetObject", "PUT": "PutObject", "POST": "PutObject", "DELETE": "DeleteObject"}
_BUCKET = {
    "GET": "ListBucket",
    "HEAD": "ListBucket",
    "PUT": "CreateBucket",
    "POST": "DeleteObject",
    "DELETE": "DeleteBucket",
}


@dataclass(frozen=True)
class Call:
    """`body` is there for services that are asked by forms or JSON, empty for S3."""

    service: str
    region: str
    action: str
    body: bytes = b""
    signed: bool = True
    access_key: str = ""
    expired: bool = False


def call_of(environ: dict[str, Any]) -> Call:
    """Read the request, and leave it readable for the next reader."""
    query = parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)
    scope = _scope(environ.get("HTTP_AUTHORIZATION", ""), query)
    target = environ.get("HTTP_X_AMZ_TARGET", "")
    service = scope[3] if scope else "s3"
    region = scope[2] if scope else "us-east-1"
    key = scope[0] if scope else ""
    if service == "s3":
        if environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded"):
            # urllib and curl call any body a form, and moto takes it for one; S3 does not.
            environ["CONTENT_TYPE"] = "binary/octet-stream"
        signed = scope is not None
        return Call("s3", region, _s3_action(environ), signed=signed, access_key=key, expired=_is_expired(query))
    body = whole_body(environ)
    action = target.rpartition(".")[2] or parse_qs(body.decode(errors="replace")).get("Action", [""])[0]
    return Call(service, region, action, body, access_key=key)


def _scope(authorization: str, query: dict[str, list[str]]) -> list[str] | None:
    """Return key / date / region / service / aws4_request."""
    _, found, rest = authorization.partition("Credential=")
    credential = rest.split(",")[0] if found else query.get("X-Amz-Credential", [""])[0]
    parts = credential.split("/")
    return parts if len(parts) == 5 else None


def _s3_action(environ: dict[str, Any]) -> str:
    _, _, key = environ.get("PATH_INFO", "/").lstrip("/").partition("/")
    return (_OBJECT if key else _BUCKET).get(environ["REQUEST_METHOD"], "")


def _is_expired(query: dict[str, list[str]]) -> bool:
    if "X-Amz-Expires" not in query:
        return False
    signed = datetime.strptime(query["X-Amz-Date"][0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    return datetime.now(UTC) > signed + timedelta(seconds=int(query["X-Amz-Expires"][0]))
