"""A check of a store in S3: what it finds, and what it takes of the service."""

import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.fakes.installation import Installation
from tests.support.stores.s3 import S3Service, running_s3
from tests.support.stores.stored_campaign import CAMPAIGN, STORED

from plimsoll.domain.text.errors import StoreError
from plimsoll.services.housekeeping.mending import mend
from plimsoll.services.housekeeping.whole_store import check_store
from plimsoll.services.toolkit import Toolkit

RAW = "cells/v1-001k-r1/1/raw/load/summary.json"


@pytest.fixture
def service() -> Iterator[S3Service]:
    with running_s3() as service:
        yield service


@pytest.fixture
def tools(service: S3Service, tmp_path: Path) -> Toolkit:
    """Provide a toolkit whose store in S3 has a campaign."""
    store = service.store()
    with tarfile.open(STORED) as packed:
        for member in filter(tarfile.TarInfo.isfile, packed):
            content = packed.extractfile(member)
            assert content is not None
            store.write(member.name, content.read())
    return replace(Installation(tmp_path).toolkit, store=store)


def test_a_flipped_byte_a_missing_file_and_a_stranger_are_found_and_each_file_is_read_once(
    tools: Toolkit, service: S3Service
) -> None:
    service.requests.clear()
    sound = [*check_store(tools, (), lambda _: None, lambda _: None)]
    assert [one.faults + one.in_progress for one in sound] == [(), ()]
    read = [path for method, path in service.requests if method == "GET" and "/cells/" in path and "/raw/" in path]
    assert (len(read), len(set(read))) == (32, 32)

    content = bytearray(tools.store.read(f"{CAMPAIGN}/{RAW}"))
    content[3] ^= 1
    tools.store.write(f"{CAMPAIGN}/{RAW}", bytes(content))
    tools.store.delete(f"{CAMPAIGN}/cells/v1-002k-r1/1/raw/load/summary.json")
    tools.store.write(f"{CAMPAIGN}/odd", b"?")

    checked, _ = check_store(tools, (), lambda _: None, lambda _: None)

    assert [(one.kind, one.path) for one in checked.faults] == [
        ("differs", RAW),
        ("missing", "cells/v1-002k-r1/1/raw/load/summary.json"),
    ]
    assert checked.in_progress == ("odd",)
    assert all(one.why_not for one in mend(tools, checked))


def test_without_the_right_to_list_uploads_the_rest_is_checked(tools: Toolkit, service: S3Service) -> None:
    class Refusing:
        def __getattr__(self, name: str) -> Any:
            return getattr(tools.store, name)

        def unfinished(self) -> NoReturn:
            raise StoreError("ListMultipartUploads is denied", mend="allow it")

    store: Any = Refusing()
    *_, rest = check_store(replace(tools, store=store), (), lambda _: None, lambda _: None)
    [fault] = rest.faults
    assert (fault.kind, fault.mend) == ("unreadable", "allow it")
