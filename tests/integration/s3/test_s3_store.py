"""The result store in S3, spoken over HTTP to moto."""

import hashlib
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import httpx
import pytest
from botocore.config import Config
from tests.support.processes import PATIENCE_S
from tests.support.stores.contract import *  # noqa: F403
from tests.support.stores.s3 import running_s3

from plimsoll.adapters.stores.s3_store import S3Store
from plimsoll.bootstrap import build_store
from plimsoll.domain.text.errors import NotFound, StoreError
from plimsoll.ports.store import StoredFile, UploadTicket
from plimsoll.settings import Settings

BUCKET = "results"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with running_s3() as service:
        yield service.endpoint


@pytest.fixture(scope="module")
def client(endpoint: str) -> Any:
    # As connections' clients are made; by path, since no name server knows bucket.127.0.0.1.
    made = boto3.client(
        "s3",
        region_name="us-east-1",
        endpoint_url=endpoint,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"mode": "standard", "total_max_attempts": 2}, max_pool_connections=20),
    )
    made.create_bucket(Bucket=BUCKET)
    return made


@pytest.fixture
def store(client: Any) -> S3Store:
    return S3Store(f"s3://{BUCKET}/{uuid.uuid4().hex}", lambda: client)


def test_stores_below_one_bucket_do_not_see_each_other(client: Any, store: S3Store) -> None:
    store.write("a", b"mine")
    other = S3Store(store.url() + "-other", lambda: client)
    assert list(other.keys("")) == []
    other.write("a", b"theirs")
    other.delete("")
    assert store.read("a") == b"mine"


def test_a_store_can_be_a_whole_bucket(client: Any) -> None:
    client.create_bucket(Bucket="whole")
    store = S3Store("s3://whole", lambda: client)
    store.write("x/a", b"1")
    assert (list(store.keys("")), store.folders("")) == (["x/a"], ("x",))
    assert store.url("x/a") == "s3://whole/x/a"


def test_a_large_file_goes_in_parts_and_comes_back_whole(client: Any, store: S3Store, tmp_path: Path) -> None:
    source = tmp_path / "big"
    source.write_bytes(bytes(range(256)) * (20 * 4096))  # 20 MiB: three parts
    stored = store.upload("big", source)
    assert stored.sha256 == hashlib.sha256(source.read_bytes()).hexdigest()
    assert store.read("big") == source.read_bytes()
    kept = client.head_object(Bucket=BUCKET, Key=f"{store.url().partition(BUCKET)[2].strip('/')}/big")
    assert kept["ETag"].strip('"').endswith("-3")
    assert kept["Metadata"]["sha256"] == stored.sha256


def test_an_upload_in_parts_that_never_ended_is_found_and_dropped(client: Any, store: S3Store) -> None:
    name = f"{store.url().partition(BUCKET)[2].strip('/')}/x/raw"
    begun = client.create_multipart_upload(Bucket=BUCKET, Key=name)
    client.create_multipart_upload(Bucket=BUCKET, Key="beside/the/store")

    [found] = store.unfinished()

    assert (found.name, found.upload, found.begun_at.tzinfo is not None) == ("x/raw", begun["UploadId"], True)
    store.drop(found)
    store.drop(found)
    assert list(store.unfinished()) == []
    assert client.list_multipart_uploads(Bucket=BUCKET)["Uploads"][0]["Key"] == "beside/the/store"


def test_more_keys_than_a_page_holds(store: S3Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "4")
    for number in range(10):
        store.write(f"many/{number}/a", b"")
    assert len(list(store.keys("many"))) == 10
    assert len(store.folders("many")) == 10
    store.delete("many")
    assert list(store.keys("many")) == []


def test_hosts_fetch_and_bring_files_by_url_alone(store: S3Store) -> None:
    store.write("bundle/jdk.tar", b"content")
    fetched = httpx.get(store.download_url("bundle/jdk.tar", timedelta(minutes=5)), timeout=PATIENCE_S)
    assert fetched.content == b"content"
    file = StoredFile(3, hashlib.sha256(b"log").hexdigest())
    ticket = store.upload_ticket("raw/node1/gc.log", file, timedelta(minutes=5))
    assert _put(ticket, b"log") == 200
    assert store.read("raw/node1/gc.log") == b"log"
    assert store.stored("raw/node1/gc.log") == file
    assert _put(ticket, b"log") == 412


def _put(ticket: UploadTicket, content: bytes) -> int:
    return httpx.put(ticket.url, headers=ticket.headers, content=content, timeout=PATIENCE_S).status_code


def test_the_store_says_what_it_holds_of_a_file_that_came_another_way_too(store: S3Store, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(bytes(range(256)) * (20 * 4096))
    uploaded = store.upload("a", source)
    assert store.stored("a") == uploaded
    with pytest.raises(NotFound):
        store.stored("none")


def test_a_file_is_created_once(store: S3Store, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"first")
    assert store.create_from("a", source)
    source.write_bytes(b"second")
    assert not store.create_from("a", source)
    assert store.read("a") == b"first"


def test_tickets_sign_what_they_are_for_and_show_it_to_nobody(store: S3Store) -> None:
    ticket = store.upload_ticket("a", StoredFile(3, "ab" * 32), timedelta(minutes=5))
    signed = parse_qs(urlsplit(ticket.url).query)["X-Amz-SignedHeaders"][0].split(";")
    assert {"content-length", "if-none-match", "x-amz-checksum-sha256"} <= set(signed)
    assert repr(ticket) == "UploadTicket()"


def test_urls_carry_the_present_signature_and_their_end(store: S3Store) -> None:
    five = timedelta(minutes=5)
    for url in (store.download_url("a", five), store.upload_ticket("a", StoredFile(0, "00" * 32), five).url):
        assert "X-Amz-Algorithm=AWS4-HMAC-SHA256" in url
        assert "X-Amz-Expires=300" in url


@pytest.mark.parametrize(
    "use",
    [
        lambda store: store.read("a"),
        lambda store: store.write("a", b""),
        lambda store: store.create("a", b""),
        lambda store: store.exists("a"),
        lambda store: list(store.keys("")),
        lambda store: store.folders(""),
        lambda store: store.delete("a"),
        lambda store: store.check(),
    ],
)
def test_a_bucket_that_does_not_exist_is_named(client: Any, use: Any) -> None:
    with pytest.raises(StoreError, match=r"s3://nowhere.*NoSuchBucket") as caught:
        use(S3Store("s3://nowhere/runs", lambda: client))
    assert "make the bucket" in caught.value.mend


def test_a_bucket_that_has_answered_is_not_asked_again_whether_it_exists(client: Any, store: S3Store) -> None:
    requests: list[str] = []
    client.meta.events.register("before-call", lambda model, **_: requests.append(model.name), unique_id="asked")
    assert [store.exists(name) for name in ("a", "b")] == [False, False]
    client.meta.events.unregister("before-call", unique_id="asked")
    assert requests == ["HeadObject", "ListObjectsV2", "HeadObject"]


@pytest.fixture
def refused(client: Any) -> Iterator[dict[Any, Any]]:
    """Answer the next calls of an operation with an error code, in that order."""
    codes = {}

    def answer(model: Any, **_: Any) -> tuple[SimpleNamespace, dict[str, Any]] | None:
        waiting = codes.get(model.name)
        if not waiting:
            return None
        error = {"Error": {"Code": waiting.pop(0), "Message": "told to"}, "ResponseMetadata": {}}
        return SimpleNamespace(status_code=400, headers={}), error

    client.meta.events.register("before-call", answer, unique_id="refused")
    yield codes
    client.meta.events.unregister("before-call", unique_id="refused")


def test_a_bucket_that_refuses_writes_says_so(store: S3Store, refused: dict[Any, Any]) -> None:
    refused["PutObject"] = ["AccessDenied"]
    with pytest.raises(StoreError, match=r"AccessDenied") as caught:
        store.check()
    assert "allow" in caught.value.mend
    assert "docs/guides/aws.md" in caught.value.mend


@pytest.mark.parametrize(
    ("code", "mend"),
    [
        ("ExpiredToken", "renew the credentials of the store's connection"),
        ("InvalidAccessKeyId", "check the credentials of the store's connection"),
        ("SignatureDoesNotMatch", "check the credentials of the store's connection"),
    ],
)
def test_credentials_that_do_not_count_are_said(store: S3Store, refused: dict[Any, Any], code: str, mend: str) -> None:
    refused["PutObject"] = [code]
    with pytest.raises(StoreError, match=code) as caught:
        store.check()
    assert caught.value.mend == mend


def test_a_refusal_to_read_is_not_taken_for_a_missing_file(store: S3Store, refused: dict[Any, Any]) -> None:
    refused["GetObject"] = ["AccessDenied"]
    with pytest.raises(StoreError) as caught:
        store.read("a")
    assert not isinstance(caught.value, NotFound)


def test_a_conflict_of_two_who_create_is_tried_again(store: S3Store, refused: dict[Any, Any]) -> None:
    refused["PutObject"] = ["ConditionalRequestConflict"] * 2
    assert store.create("a", b"x")
    refused["PutObject"] = ["ConditionalRequestConflict"] * 5
    with pytest.raises(StoreError):
        store.create("b", b"x")


def test_an_endpoint_that_does_not_answer_is_an_error_of_the_store() -> None:
    def client() -> Any:
        config = Config(retries={"total_max_attempts": 1}, connect_timeout=2)
        return boto3.client(
            "s3",
            region_name="us-east-1",
            endpoint_url="http://127.0.0.1:1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=config,
        )

    with pytest.raises(StoreError, match=r"127\.0\.0\.1:1"):
        S3Store("s3://results/runs", client).check()


def test_settings_choose_it_by_the_url_and_make_no_client_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    store = build_store(Settings(store="s3://results/runs"))
    assert isinstance(store, S3Store)
    with pytest.raises(StoreError, match="no AWS credentials"):
        store.read("a")
