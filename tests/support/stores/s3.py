"""moto's S3 as a server on a loopback address, with faults that a test can ask for, and stores on it."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import boto3
from botocore.config import Config
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends
from tests.cloud.lookups import Services
from tests.cloud.turns import InTurn, Wsgi
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

from plimsoll.adapters.stores.s3_store import S3Store


@dataclass
class S3Service:
    """The requests that the server got, as method and path, and the faults of its next requests with presigned URLs.

    A fault is `half`: the answer breaks off in the middle; `lost`: the work is done and the answer is lost; or a status
    code.
    """

    endpoint: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    _answer: Wsgi = field(default_factory=lambda: InTurn(Services()))

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        """Return a WSGI application."""
        request = Request(environ)
        self.requests.append((request.method, request.path))
        fault = self.faults.pop(0) if self.faults and "X-Amz-Signature" in request.args else ""
        if not fault:
            return self._answer(environ, start_response)
        if fault not in ("half", "lost"):
            refusal = f"<Error><Code>Told</Code><Message>{request.url}</Message></Error>"
            return Response(refusal, int(fault))(environ, start_response)
        answer = b"".join(self._answer(environ, lambda *_: lambda _: None))
        if fault == "lost":
            raise ConnectionResetError("the answer is lost, as a fault asked for")
        return Response(answer[: len(answer) // 2])(environ, start_response)

    def called(self, method: str, part: str) -> int:
        """Return the number of requests with that method for paths that contain `part`."""
        return sum(one == method and part in path for one, path in self.requests)

    def store(self) -> S3Store:
        """Return a store in a bucket of its own."""
        made = boto3.client(
            "s3",
            region_name="us-east-1",
            endpoint_url=self.endpoint,
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(retries={"total_max_attempts": 1}),
        )
        made.create_bucket(Bucket="results")
        return S3Store("s3://results/runs", lambda: made)


@contextmanager
def running_s3(address: str = "127.0.0.1") -> Iterator[S3Service]:
    """Provide the server at that address of this machine, until the end of the block.

    A process can have only one at a time, because moto keeps its data per process.
    """
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    service = S3Service()
    server = make_server(address, 0, service, threaded=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    service.endpoint = f"http://{address}:{server.server_port}"
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        s3_backends[DEFAULT_ACCOUNT_ID]["aws"].reset()
