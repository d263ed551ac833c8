"""Transfers between a host and a store, without either: over real HTTP they are tested with real hosts."""

import hashlib
import http.client
import io
import os
import time
import urllib.error
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from plimsoll.adapters.hosts.onhost import transfers

FOREVER = float("inf")


@pytest.fixture(autouse=True)
def slept(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collect pauses, which take no time here."""
    pauses = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    return pauses


def test_no_more_is_read_than_was_measured() -> None:
    body = transfers.Body(io.BytesIO(b"measured, and grown since"), FOREVER, 8)
    assert (body.read(5), body.read(), body.read()) == (b"measu", b"red", b"")


def test_a_file_that_became_shorter_is_no_whole_one() -> None:
    body = transfers.Body(io.BytesIO(b"short"), FOREVER, 8)
    assert body.read(8) == b"short"
    with pytest.raises(OSError, match="shorter"):
        body.read(8)


def test_nothing_takes_for_ever() -> None:
    with pytest.raises(TimeoutError, match="time for it is over"):
        transfers.Body(io.BytesIO(b"x"), 0.0).read(1)


def test_a_link_that_breaks_may_be_tried_again() -> None:
    class Broken:
        def read(self, size: Any) -> None:
            raise ConnectionResetError(104, "Connection reset by peer")

    with pytest.raises(transfers.Interrupted, match="reset by peer"):
        transfers.Body(Broken(), FOREVER).read(1)


def test_what_may_pass_is_tried_five_times(slept: list[Any]) -> None:
    def work() -> None:
        raise transfers.Interrupted("the store answers 503")

    with pytest.raises(OSError, match="503"):
        transfers.persistently(work, FOREVER)
    assert len(slept) == 4


def test_what_will_not_pass_is_tried_once(slept: list[Any]) -> None:
    def work() -> None:
        raise PermissionError(13, "Permission denied")

    with pytest.raises(PermissionError):
        transfers.persistently(work, FOREVER)
    assert slept == []


def test_there_is_no_try_after_the_time(slept: list[Any]) -> None:
    def work() -> None:
        raise transfers.Interrupted("the link was lost")

    with pytest.raises(OSError, match="link was lost"):
        transfers.persistently(work, 0.0)
    assert slept == []


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (http.client.InvalidURL("/x?X-Amz-Signature=secret has a blank"), "InvalidURL"),
        (urllib.error.URLError("X-Amz-Signature=secret"), "str"),
        (urllib.error.URLError(ConnectionRefusedError(111, "Connection refused")), "[Errno 111] Connection refused"),
    ],
)
def test_no_error_repeats_the_url(error: Any, message: str) -> None:
    assert transfers.safe_text(error) == message


def test_of_a_refusal_only_status_and_code_are_told() -> None:
    body = b"<Error><Code>SignatureDoesNotMatch</Code><StringToSign>secret</StringToSign></Error>"
    error = urllib.error.HTTPError("http://x/?X-Amz-Signature=secret", 403, "Forbidden", Message(), io.BytesIO(body))
    with error:
        assert transfers.refusal(error) == "the store answers 403 (SignatureDoesNotMatch)"


def test_files_are_measured_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    (tmp_path / "large").write_bytes(b"8 bytes.")
    os.mkfifo(tmp_path / "pipe")
    found = transfers.measure([str(tmp_path / name) for name in ("a", "none", "large", "pipe")], most_bytes=7)
    assert found[str(tmp_path / "a")] == {"size_bytes": 7, "sha256": hashlib.sha256(b"content").hexdigest()}
    assert {name: "error" in found[str(tmp_path / name)] for name in ("none", "large", "pipe")} == {
        "none": True,
        "large": True,
        "pipe": True,
    }
