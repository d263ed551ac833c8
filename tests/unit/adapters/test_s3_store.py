"""The store in S3 where its credentials can't be had. What S3 itself answers is tested with a real service."""

import pickle
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NoReturn

import pytest
from botocore.exceptions import NoCredentialsError

from plimsoll.adapters.stores.s3_errors import explained
from plimsoll.adapters.stores.s3_store import S3Store
from plimsoll.domain.text.errors import SecretError, StoreError
from plimsoll.ports.store import StoredFile, UnfinishedFile

FIVE = timedelta(minutes=5)
USES: dict[str, Callable[[S3Store, Path], object]] = {
    "exists": lambda store, _: store.exists("a"),
    "read": lambda store, _: store.read("a"),
    "blocks": lambda store, _: next(store.blocks("a")),
    "write": lambda store, _: store.write("a", b""),
    "create": lambda store, _: store.create("a", b""),
    "create_from": lambda store, file: store.create_from("a", file),
    "upload": lambda store, file: store.upload("a", file),
    "keys": lambda store, _: list(store.keys("")),
    "listed": lambda store, _: list(store.listed("")),
    "unfinished": lambda store, _: list(store.unfinished()),
    "drop": lambda store, _: store.drop(UnfinishedFile("a", datetime.now(UTC), "id")),
    "folders": lambda store, _: store.folders(""),
    "delete": lambda store, _: store.delete("a"),
    "check": lambda store, _: store.check(),
    "download_url": lambda store, _: store.download_url("a", FIVE),
    "upload_ticket": lambda store, _: store.upload_ticket("a", StoredFile(0, "00" * 32), FIVE),
    "stored": lambda store, _: store.stored("a"),
}


def no_client() -> NoReturn:
    raise SecretError("there is no such connection", where="connection 'aws'", mend="add it")


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_credentials_that_can_not_be_had_are_an_error_of_the_store_in_the_words_of_the_secret(
    tmp_path: Path, use: Callable[[S3Store, Path], object]
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")

    with pytest.raises(StoreError) as caught:
        use(S3Store("s3://results/runs", no_client), file)

    error = pickle.loads(pickle.dumps(caught.value))
    assert str(error) == "connection 'aws': there is no such connection\n  To mend it: add it"


def test_missing_keys_are_an_error_that_names_the_variables_of_commands() -> None:
    with pytest.raises(StoreError, match="no AWS credentials") as caught, explained("s3://results"):
        raise NoCredentialsError
    for variable in ("AWS_ACCESS_KEY_ID", "PLIMSOLL_SECRETS"):
        assert variable in caught.value.mend
