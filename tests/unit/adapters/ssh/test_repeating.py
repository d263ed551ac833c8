"""How often a command is begun again whose host says nothing, or whose link is lost. No time passes."""

import time
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.adapters.ssh.leased import KEY

from plimsoll.adapters.providers.ssh import Target
from plimsoll.adapters.providers.ssh.connection import Connection
from plimsoll.adapters.providers.ssh.execution import Answer
from plimsoll.domain.text.errors import Unreachable

MODULE = "plimsoll.adapters.providers.ssh.connection"


class SilentHost:
    """Lets each command wait, then fail as `failures` say; a command beyond them is answered."""

    def __init__(self, *failures: tuple[float, type[Exception]]) -> None:
        self.failures, self.now, self.commands = list(failures), 0.0, 0

    def execute(self, channel: object, command: str, timeout_s: float, feed: object) -> Answer:
        self.commands += 1
        if not self.failures:
            return Answer(0, b"done", b"")
        wait_s, failure = self.failures.pop(0)
        self.now += min(wait_s, timeout_s) if failure is TimeoutError else wait_s
        raise failure("nothing came")


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Provide a connection to such a host."""

    def made(host: SilentHost) -> Connection:
        channel = SimpleNamespace(settimeout=lambda _: None, close=lambda: None)
        sock = SimpleNamespace(shutdown=lambda _: None)
        transport = SimpleNamespace(
            is_active=lambda: True, open_session=lambda **_: channel, sock=sock, close=lambda: None
        )
        monkeypatch.setattr(f"{MODULE}.open_transport", lambda *_: transport)
        monkeypatch.setattr(f"{MODULE}.execute", host.execute)
        monkeypatch.setattr(f"{MODULE}.time", SimpleNamespace(monotonic=lambda: host.now, sleep=time.sleep))
        secrets: Any = SimpleNamespace(ssh_identity=lambda _: None)
        return Connection(Target("10.0.0.1", KEY, "bench"), secrets, lambda _: None)

    return made


def test_a_long_command_that_the_host_is_silent_on_is_not_begun_again(connected: Any) -> None:
    host = SilentHost(*[(10_000, TimeoutError)] * 4)
    with pytest.raises(Unreachable, match="nothing came"):
        connected(host).execute("upload", timeout_s=930)
    assert (host.commands, host.now) == (1, 930)


def test_a_long_command_whose_link_is_lost_early_is_begun_again(connected: Any) -> None:
    host = SilentHost((10, EOFError), (20, ConnectionError))
    assert connected(host).execute("upload", timeout_s=930).stdout == b"done"


def test_links_that_are_lost_again_and_again_do_not_make_it_last_for_hours(connected: Any) -> None:
    host = SilentHost(*[(900, EOFError)] * 4)
    with pytest.raises(Unreachable):
        connected(host).execute("upload", timeout_s=930)
    assert host.now <= 2 * 930


def test_a_short_command_is_begun_again_after_silence_until_its_host_is_given_up(connected: Any) -> None:
    assert connected(SilentHost((60, TimeoutError))).execute("status", timeout_s=60).stdout == b"done"
    host = SilentHost(*[(120, TimeoutError)] * 4)
    with pytest.raises(Unreachable):
        connected(host).execute("clean", timeout_s=120)
    assert host.now == 240


def test_a_transfer_may_be_begun_again_for_longer(connected: Any) -> None:
    host = SilentHost((3000, EOFError))
    assert connected(host).execute("receive", timeout_s=600, repeating_s=3600).stdout == b"done"
