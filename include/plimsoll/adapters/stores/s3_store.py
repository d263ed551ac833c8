"""The result store in an S3 bucket, or in any service with the S3 API."""

import hashlib
import uuid
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from datetime import timedelta
from io import BufferedReader, BytesIO
from operator import itemgetter, methodcaller
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from tenacity import retry, retry_if_exception, stop_after_attempt

from plimsoll.adapters.aws import RenewedClient
from plimsoll.adapters.stores.s3_errors import Refused, error_of, explained
from plimsoll.domain.text.errors import NotFound, StoreError
from plimsoll.ports.store import BLOCK_BYTES, ListedFile, StoredFile, UnfinishedFile, UploadTicket

_TAKEN = frozenset({"PreconditionFailed", "412"})
# Two conditional writes at once can both be turned away; then the key is still free.
_CONFLICT = "ConditionalRequestConflict"
# A smaller file is sent by one request in any case, for which boto3 would start threads.
_PARTED = 8 << 20


class S3Store:
    """An implementation of the DirectStore port. S3 itself writes files atomically.

    `client` makes a boto3 client for S3. It is called when the store is first used, and again when credentials change.
    """

    def __init__(self, root: str, client: Callable[[], Any]) -> None:
        parts = urlsplit(root)
        self.root = root.rstrip("/")
        self._bucket, self._prefix = parts.netloc, parts.path.strip("/")
        self._make_client = client
        self._has_bucket = False
        self._s3 = RenewedClient(self._made)

    def url(self, key: str = "") -> str:
        return f"{self.root}/{key}".rstrip("/")

    def exists(self, key: str) -> bool:
        try:
            self._ask(key, lambda s3: s3.head_object(**self._at(key)))
        except NotFound:
            # HeadObject does not distinguish a missing bucket from a missing file. A bucket that has answered this
            # process is not checked again. If it is deleted later, writing raises the error.
            if not self._has_bucket:
                self._ask(key, lambda s3: s3.list_objects_v2(Bucket=self._bucket, Prefix=self._name(key), MaxKeys=1))
            return False
        return True

    def read(self, key: str) -> bytes:
        content: bytes = self._ask(key, lambda s3: s3.get_object(**self._at(key))["Body"].read())
        return content

    def blocks(self, key: str) -> Iterator[bytes]:
        answer = self._ask(key, lambda s3: s3.get_object(**self._at(key)))
        with explained(self.url(key)), closing(answer["Body"]) as body:
            yield from body.iter_chunks(BLOCK_BYTES)

    def write(self, key: str, data: bytes) -> None:
        self._ask(key, lambda s3: s3.put_object(**self._at(key), Body=data, ChecksumAlgorithm="SHA256"))

    def create(self, key: str, data: bytes) -> bool:
        """Write by a conditional request: S3 itself decides which caller is first."""
        return self._create(key, lambda: BytesIO(data))

    def create_from(self, key: str, path: Path) -> bool:
        """Write a local file by a conditional request. It must be at most 5 GB, as parts have no condition."""
        return self._create(key, lambda: path.open("rb"))

    def upload(self, key: str, path: Path) -> StoredFile:
        """Upload in several parts at once, or whole if it is small. S3 verifies the sha256 of each part."""
        size = path.stat().st_size
        with path.open("rb") as source:
            checksum = hashlib.file_digest(source, "sha256").hexdigest()

        def send(s3: Any) -> None:
            extra = {"ChecksumAlgorithm": "SHA256", "Metadata": {"sha256": checksum}}
            with path.open("rb") as source:
                if size < _PARTED:
                    s3.put_object(**self._at(key), Body=source, **extra)
                else:
                    s3.upload_fileobj(source, self._bucket, self._name(key), ExtraArgs=extra)

        self._ask(key, send)
        return StoredFile(size, checksum)

    def keys(self, prefix: str) -> Iterator[str]:
        """Yield keys below a prefix, sorted, including a file with exactly that name."""
        return map(self._key, sorted(entry["Key"] for entry in self._objects(prefix)))

    def stamped(self, prefix: str, name: str) -> Iterator[tuple[str, str]]:
        for entry in sorted(self._objects(prefix), key=itemgetter("Key")):
            key = self._key(entry["Key"])
            yield key, f"{entry['ETag']} {entry['LastModified']}" if key.rpartition("/")[2] == name else ""

    def listed(self, prefix: str, *, deep: bool = True) -> Iterator[ListedFile]:
        pages = self._pages(prefix, Prefix=self._below(prefix), **({} if deep else {"Delimiter": "/"}))
        entries = (entry for page in pages for entry in page.get("Contents", ()))
        for entry in sorted(entries, key=itemgetter("Key")):
            yield ListedFile(self._key(entry["Key"]), entry["Size"], entry["LastModified"])

    def unfinished(self) -> Iterator[UnfinishedFile]:
        """Yield uploads in parts that were neither completed nor aborted: S3 keeps, and bills, their parts."""
        for page in self._pages("", "list_multipart_uploads", Prefix=self._below("")):
            for entry in page.get("Uploads", ()):
                yield UnfinishedFile(self._key(entry["Key"]), entry["Initiated"], entry["UploadId"])

    def drop(self, file: UnfinishedFile) -> None:
        with suppress(NotFound):
            self._ask(file.name, lambda s3: s3.abort_multipart_upload(**self._at(file.name), UploadId=file.upload))

    def folders(self, prefix: str) -> tuple[str, ...]:
        below = self._below(prefix)
        pages = self._pages(prefix, Prefix=below, Delimiter="/")
        names = [entry["Prefix"] for page in pages for entry in page.get("CommonPrefixes", ())]
        return tuple(sorted(name.removeprefix(below).rstrip("/") for name in names))

    def delete(self, prefix: str) -> None:
        """Delete everything below a prefix, and a file with exactly that name."""
        names = [entry["Key"] for entry in self._objects(prefix)]
        # S3 deletes at most 1,000 files by one request
        for start in range(0, len(names), 1000):
            objects = {"Objects": [{"Key": name} for name in names[start : start + 1000]], "Quiet": True}
            answer = self._ask(prefix, methodcaller("delete_objects", Bucket=self._bucket, Delete=objects))
            for error in answer.get("Errors", ()):
                what = f"DeleteObject of {error['Key']}: {error.get('Message')}"
                raise error_of(self.url(prefix), error["Code"], what)

    def check(self) -> None:
        key = f".plimsoll-check-{uuid.uuid4().hex}"
        self.write(key, b"check")
        self.read(key)
        self.delete(key)

    def download_url(self, key: str, lifetime: timedelta) -> str:
        return self._presigned("get_object", key, lifetime)

    def upload_ticket(self, key: str, file: StoredFile, lifetime: timedelta) -> UploadTicket:
        """Return a ticket with size, checksum and condition signed: S3 accepts only these bytes, for a free key."""
        checksum = b64encode(bytes.fromhex(file.sha256)).decode()
        signed = {"IfNoneMatch": "*", "ChecksumSHA256": checksum, "Metadata": {"sha256": file.sha256}}
        headers = {"If-None-Match": "*", "x-amz-checksum-sha256": checksum, "x-amz-meta-sha256": file.sha256}
        url = self._presigned("put_object", key, lifetime, ContentLength=file.size_bytes, **signed)
        return UploadTicket(url, {**headers, "Content-Length": str(file.size_bytes)})

    def stored(self, key: str) -> StoredFile:
        """Return size and checksum of the file: the checksum computed by S3, or else the one that S3 was given."""
        head = self._ask(key, lambda s3: s3.head_object(**self._at(key), ChecksumMode="ENABLED"))
        if head.get("ChecksumType") == "FULL_OBJECT" and "ChecksumSHA256" in head:
            return StoredFile(head["ContentLength"], b64decode(head["ChecksumSHA256"]).hex())
        # That of a file that came in parts is none of its content.
        return StoredFile(head["ContentLength"], head["Metadata"].get("sha256", ""))

    @retry(
        retry=retry_if_exception(lambda error: isinstance(error, Refused) and error.code == _CONFLICT),
        stop=stop_after_attempt(5),
        reraise=True,
    )
    def _create(self, key: str, opened: Callable[[], BytesIO | BufferedReader]) -> bool:
        def put(s3: Any) -> None:
            with opened() as body:
                s3.put_object(**self._at(key), Body=body, IfNoneMatch="*", ChecksumAlgorithm="SHA256")

        try:
            self._ask(key, put)
        except Refused as refused:
            if refused.code not in _TAKEN:
                raise
            # Sent again by boto3, as its answer was lost: taken it may be by ourselves.
            return refused.repeated and self._holds(key, opened)
        return True

    def _holds(self, key: str, opened: Callable[[], BytesIO | BufferedReader]) -> bool:
        """Tell whether the file with that key has that content."""
        stored = hashlib.sha256()
        for block in self.blocks(key):
            stored.update(block)
        with opened() as body:
            return stored.digest() == hashlib.file_digest(body, "sha256").digest()

    def _presigned(self, operation: str, key: str, lifetime: timedelta, **further: Any) -> str:
        options = {**self._at(key), **further}
        with explained(self.url(key)):
            lasts_s = round(lifetime.total_seconds())
            url: str = self._s3.recent().generate_presigned_url(operation, Params=options, ExpiresIn=lasts_s)
            return url

    def _made(self) -> Any:
        client = self._make_client()
        for operation in ("GetObject", "PutObject"):
            client.meta.events.register(f"choose-signer.s3.{operation}", _sign_v4)
        return client

    def _ask(self, key: str, question: Callable[[Any], Any]) -> Any:
        """Return the result of the question for the client. It may be asked twice, with renewed credentials."""
        with explained(self.url(key)):
            answer = self._s3.ask(question)
        self._has_bucket = True
        return answer

    def _pages(self, key: str, operation: str = "list_objects_v2", **options: str) -> list[Any]:
        query = {"Bucket": self._bucket, **options}
        pages: list[Any] = self._ask(key, lambda s3: list(s3.get_paginator(operation).paginate(**query)))
        return pages

    def _objects(self, prefix: str) -> Iterator[Mapping[str, Any]]:
        """Yield the objects at and below a prefix as S3 lists them: `x` and `x/a`, but not `xy`."""
        name, below = self._name(prefix), self._below(prefix)
        for page in self._pages(prefix, Prefix=name):
            entries = page.get("Contents", ())
            yield from (entry for entry in entries if entry["Key"] == name or entry["Key"].startswith(below))

    def _key(self, name: str) -> str:
        return name[len(self._prefix) + 1 if self._prefix else 0 :]

    def _below(self, prefix: str) -> str:
        name = self._name(prefix)
        return f"{name}/" if name else ""

    def _at(self, key: str) -> dict[str, str]:
        """Return the parameters that name the file of that key."""
        return {"Bucket": self._bucket, "Key": self._name(key)}

    def _name(self, key: str) -> str:
        if ".." in PurePosixPath(key).parts or key.startswith("/"):
            raise StoreError(f"{key!r} is not a key of the store", where=self.root)
        return f"{self._prefix}/{key}".strip("/")


def _sign_v4(signature_version: str, **_: Any) -> str | None:
    """Sign URLs with signature version 4. boto3's default for S3 is one that new buckets do not accept."""
    return "s3v4-query" if signature_version.endswith("-query") else None
