"""What a command on a host prints, from a channel that answers as it is told."""

from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.adapters.providers.ssh import execution
from plimsoll.adapters.providers.ssh.execution import Answer, execute
from plimsoll.domain.text.errors import HostError


def channel(output: list[bytes], errors: list[bytes]) -> Any:
    """Return a channel that gives these blocks."""
    return SimpleNamespace(
        exec_command=lambda _: None,
        shutdown_write=lambda: None,
        recv=lambda _: output.pop(0) if output else b"",
        recv_stderr=lambda _: errors.pop(0) if errors else b"",
        status_event=SimpleNamespace(wait=lambda _: True),
        exit_status=0,
        getpeername=lambda: ("10.0.0.1", 22),
    )


@pytest.fixture(autouse=True)
def bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "MOST_OUTPUT_BYTES", 5)


def test_output_up_to_the_bound_comes_whole() -> None:
    assert execute(channel([b"12", b"345"], [b"error"]), "print", 1, None) == Answer(0, b"12345", b"error")


def test_output_beyond_the_bound_is_an_error_with_the_host() -> None:
    with pytest.raises(HostError, match="the command printed more than") as error:
        execute(channel([b"123456"], []), "print", 1, None)
    assert error.value.where == "host 10.0.0.1:22"


def test_errors_beyond_the_bound_are_read_and_not_kept() -> None:
    errors = [b"1234", b"5678", b"9"]
    assert execute(channel([b"ok"], errors), "print", 1, None) == Answer(0, b"ok", b"1234")
    assert errors == []


@pytest.mark.parametrize("printed", [b"", b"Welcome!\n{}", b"\xff", b"[" * 100_000])
def test_an_answer_that_is_no_json_is_an_error_with_the_host(printed: bytes) -> None:
    with pytest.raises(HostError, match="its answer is no JSON") as error:
        Answer(0, printed, b"").parsed("host node1")
    assert error.value.where == "host node1"
    assert len(str(error.value)) < 1000
