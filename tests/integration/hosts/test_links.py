"""What happens to the link to a host, and what does not follow from it."""

import getpass
import os
import signal
import threading
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from tests.support.processes import log_of, marked, python_job, until
from tests.support.ssh.host_folder import INFO
from tests.support.ssh.sshd import KeyPair, OneKey, Sshd, make_key, running_sshd

from plimsoll.adapters.hosts.reached import parse_host_key
from plimsoll.adapters.providers.ssh import Connections, KeyRefused, SshHost, Target, WrongHostKey
from plimsoll.adapters.providers.ssh.connection import Connection
from plimsoll.domain.text.errors import HostError, Unreachable

LONG = timedelta(seconds=60)
SLEEP = "import time; print('up', flush=True); time.sleep(600)"


@pytest.fixture
def reached(tmp_path: Path) -> Any:
    """Provide a host behind any connection."""
    return lambda connection: SshHost(INFO, PurePosixPath(tmp_path / "other"), connection)


def test_another_host_key_is_refused_with_both_keys_named(
    sshd: Sshd, connections: Connections, reached: Target, tmp_path: Path
) -> None:
    other = make_key(tmp_path, "other").public
    with pytest.raises(WrongHostKey) as refused:
        reached(connections.to(sshd.target(host_key=other))).run(["true"], timeout=LONG)
    assert f"expected {parse_host_key(other)}, found {parse_host_key(sshd.host_key)}" in refused.value.what
    assert "compare" in refused.value.mend
    assert "Accepted publickey" not in sshd.log


def test_a_host_key_of_another_kind_is_refused_too(
    sshd: Sshd, connections: Connections, reached: Target, tmp_path: Path
) -> None:
    other = make_key(tmp_path, "other", "ecdsa").public
    with pytest.raises(WrongHostKey, match=r"expected ecdsa-sha2-nistp256 SHA256:.*found ssh-ed25519"):
        reached(connections.to(sshd.target(host_key=other))).run(["true"], timeout=LONG)


@pytest.mark.parametrize("kind", ["rsa", "ecdsa"])
def test_every_kind_of_key_serves(kind: str, tmp_path: Path, reached: Target) -> None:
    key = make_key(tmp_path, "user", kind)
    with running_sshd(tmp_path / "sshd", [key.public], host_key_kind=kind) as server:
        pool = Connections(OneKey(key.private))
        assert reached(pool.to(server.target())).run(["true"], timeout=LONG).exit_code == 0
        pool.close()


def test_a_key_that_is_not_authorized_is_named_and_not_shown(sshd: Sshd, reached: Target, tmp_path: Path) -> None:
    stranger = make_key(tmp_path, "stranger")
    with pytest.raises(KeyRefused) as refused:
        reached(Connections(OneKey(stranger.private)).to(sshd.target())).run(["true"], timeout=LONG)
    assert f"the key {parse_host_key(stranger.public)} of connection 'bench'" in refused.value.what
    assert "authorized_keys" in refused.value.mend
    assert stranger.private.splitlines()[1] not in str(refused.value)


def test_a_host_that_does_not_decide_on_a_login_in_time_can_not_be_reached_and_the_key_is_not_blamed(
    sshd: Sshd, user_key: KeyPair, reached: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plimsoll.adapters.providers.ssh.login.AUTH_S", 0.5)
    sshd.stop()
    slow = (
        f"AuthorizedKeysCommand /bin/sleep 20\nAuthorizedKeysCommandUser {getpass.getuser()}\nAuthorizedKeysFile none\n"
    )
    sshd.config.write_text(slow + sshd.config.read_text())  # of a setting the first counts
    sshd.start()
    with pytest.raises(Unreachable, match="can't be reached: "):
        reached(Connection(sshd.target(), OneKey(user_key.private), lambda _: None)).status("load")


def test_where_nobody_listens_is_said(sshd: Sshd, user_key: KeyPair, reached: Target) -> None:
    sshd.stop()
    pauses = []
    with pytest.raises(Unreachable, match=r"host 127\.0\.0\.1:\d+: can't be reached: .*refused"):
        reached(Connection(sshd.target(), OneKey(user_key.private), pauses.append)).status("load")
    assert pauses == [0.5, 2.0, 5.0]


def test_one_connection_serves_everything(ssh_host: SshHost, sshd: Sshd) -> None:
    for number in range(3):
        ssh_host.write(PurePosixPath("file"), str(number))
        ssh_host.run(["true"], timeout=LONG)
        ssh_host.status("load")
    assert sshd.log.count("Accepted publickey") == 1


def test_a_link_that_was_cut_is_made_again(ssh_host: SshHost, sshd: Sshd) -> None:
    ssh_host.write(PurePosixPath("file"), "kept")
    sshd.cut()
    assert ssh_host.read_tail(PurePosixPath("file"), max_bytes=10) == "kept"
    sshd.cut()
    assert ssh_host.status("load").state == "missing"
    sshd.cut()
    assert ssh_host.run(["echo", "here"], timeout=LONG).stdout == "here\n"


def test_a_cut_that_nobody_has_noticed_yet_costs_no_command(
    ssh_host: SshHost, sshd: Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh_host.status("load")
    sshd.cut()
    monkeypatch.setattr("paramiko.Transport.is_active", lambda _: True)
    assert ssh_host.run(["echo", "here"], timeout=LONG).stdout == "here\n"


def test_a_server_that_comes_back_is_waited_for(sshd: Sshd, user_key: KeyPair, reached: Target) -> None:
    # What passes between two tries is the time that the server takes.
    connection = Connection(sshd.target(), OneKey(user_key.private), lambda _: sshd.start())
    reached(connection).status("load")
    sshd.stop()
    assert reached(connection).status("load").state == "missing"
    connection.close()


def test_a_link_that_says_nothing_more_is_given_up_and_made_again(connection: Any, sshd: Sshd) -> None:
    connection.execute("true", timeout_s=60)
    frozen = sshd.sessions()
    sshd.freeze()
    assert connection.execute("echo here", timeout_s=60).stdout == b"here\n"
    assert all(process.is_running() for process in frozen)


def test_a_command_whose_link_is_cut_is_not_repeated(ssh_host: SshHost, sshd: Sshd, tags: dict[str, Any]) -> None:
    command, runs, most_s = ["sh", "-c", "printf x >> runs; exec sleep 600"], PurePosixPath("runs"), 15

    def cut() -> None:
        until(lambda: ssh_host.read_tail(runs, max_bytes=10), "the command's mark", longest_s=0.5)
        sshd.cut()

    cutter = threading.Thread(target=cut)
    cutter.start()
    with pytest.raises(HostError, match=f"the link was lost while `sh` ran; it may still run there, for {most_s} s"):
        ssh_host.run(command, timeout=timedelta(seconds=most_s))
    cutter.join()
    assert ssh_host.read_tail(runs, max_bytes=10) == "x"
    until(lambda: not marked("PLIMSOLL_TEST", tags["PLIMSOLL_TEST"]), "the end that the host gives it")


def test_a_job_survives_the_death_of_the_server_and_is_stopped_over_a_new_connection(
    ssh_host: SshHost, sshd: Sshd
) -> None:
    ssh_host.start(python_job("load", SLEEP))
    until(lambda: log_of(ssh_host, "load"), "output")
    sshd.stop()
    sshd.start()
    assert ssh_host.status("load").state == "running"
    ssh_host.start(python_job("load", SLEEP))
    assert log_of(ssh_host, "load") == "up\n"
    ssh_host.stop("load", grace=LONG)
    assert ssh_host.status("load").exit_code == 128 + signal.SIGTERM


def test_a_job_belongs_to_no_session_of_the_server(ssh_host: SshHost, sshd: Sshd, tags: dict[str, Any]) -> None:
    ssh_host.start(python_job("load", SLEEP))
    of_server = {os.getsid(process.pid) for process in sshd.sessions()} | {os.getsid(sshd.process.pid)}
    jobs = marked("PLIMSOLL_TEST", tags["PLIMSOLL_TEST"])
    assert len(jobs) == 2
    assert not of_server & {os.getsid(process.pid) for process in jobs}


def test_two_controllers_start_one_job(sshd: Sshd, user_key: KeyPair, tags: dict[str, Any], tmp_path: Path) -> None:
    """Each with a connection of its own, as two processes have."""
    pools = [Connections(OneKey(user_key.private)) for _ in range(2)]
    root = PurePosixPath(tmp_path / "node1")
    hosts = [SshHost(INFO, root, pool.to(sshd.target()), tags=tags) for pool in pools]
    starters = [threading.Thread(target=host.start, args=(python_job("load", SLEEP),)) for host in hosts]
    for starter in starters:
        starter.start()
    for starter in starters:
        starter.join()
    until(lambda: log_of(hosts[0], "load"), "output")
    assert log_of(hosts[0], "load") == "up\n"
    assert len(marked("PLIMSOLL_TEST", tags["PLIMSOLL_TEST"])) == 2
    for pool in pools:
        pool.close()


def test_a_forked_process_makes_connections_of_its_own(connections: Connections, sshd: Sshd) -> None:
    target = sshd.target()
    connections.to(target).execute("true", timeout_s=60)
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if connections.to(target).execute("echo child", timeout_s=60).stdout == b"child\n" else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert connections.to(target).execute("echo parent", timeout_s=60).stdout == b"parent\n"
    assert sshd.log.count("Accepted publickey") == 2


def test_the_key_is_on_no_command_line_and_in_no_environment(
    ssh_host: SshHost, sshd: Sshd, user_key: KeyPair, tags: dict[str, Any]
) -> None:
    ssh_host.start(python_job("load", SLEEP))
    secret = user_key.private.splitlines()[1].encode()
    for process in (*marked("PLIMSOLL_TEST", tags["PLIMSOLL_TEST"]), *sshd.sessions()):
        for file in ("cmdline", "environ"):
            assert secret not in Path(f"/proc/{process.pid}/{file}").read_bytes()
