"""A database that somebody else runs on the load's machine is found by where it listens."""

import socket
from pathlib import Path

import pytest

from plimsoll.adapters.hosts.sampler import counters, programs

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
ANY_4, ANY_6, MAPPED = "00000000", "0" * 32, "0000000000000000FFFF00000100007F"
LOOPBACK_2 = "0200007F"
LISTENS, CONNECTED = "0A", "01"
STAT = "10 (java) S {parent} 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 7 0"


def socket_line(address: str, port: int = 9042, state: str = LISTENS, inode: int = 77) -> str:
    return (
        f"   0: {address}:{port:04X} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000  1000 0 {inode} 1 0\n"
    )


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "net").mkdir()
    for table in ("tcp", "tcp6"):
        (tmp_path / "net" / table).write_text(HEAD)
    return tmp_path


def add(proc: Path, pid: int, name: str, inode: int = 77, parent: int = 1, user: int = 1000) -> None:
    (proc / str(pid) / "fd").mkdir(parents=True)
    (proc / str(pid) / "comm").write_text(f"{name}\n")
    (proc / str(pid) / "environ").write_bytes(b"")
    (proc / str(pid) / "status").write_text(f"Name:\t{name}\nUid:\t{user}\t{user}\t{user}\t{user}\n")
    work(proc, pid, 100, parent)
    (proc / str(pid) / "fd" / "0").symlink_to("/dev/null")
    (proc / str(pid) / "fd" / "5").symlink_to(f"socket:[{inode}]")


def work(proc: Path, pid: int, ticks: int, parent: int = 1) -> None:
    (proc / str(pid) / "stat").write_text(STAT.format(parent=parent, ticks=ticks))


@pytest.mark.parametrize(
    ("table", "line", "is_there"),
    [
        ("tcp", socket_line("0100007F"), True),
        ("tcp6", socket_line(MAPPED), True),
        ("tcp", socket_line(ANY_4), True),
        ("tcp6", socket_line(ANY_6), True),
        ("tcp", socket_line(LOOPBACK_2), False),
        ("tcp", socket_line("0100007F", port=9043), False),
        ("tcp", socket_line("0100007F", state=CONNECTED), False),
    ],
)
def test_whoever_listens_at_one_of_its_addresses_is_the_database(
    proc: Path, table: str, line: str, is_there: bool
) -> None:
    (proc / "net" / table).write_text(HEAD + line)
    add(proc, 10, "java")
    add(proc, 11, "java", inode=78)
    assert counters.listening("@9042,127.0.0.1", str(proc)) == (is_there, {"10"} if is_there else set())


def test_an_address_of_another_machine_is_not_here_though_something_listens_everywhere(proc: Path) -> None:
    (proc / "net" / "tcp").write_text(HEAD + socket_line(ANY_4))
    add(proc, 10, "java")
    assert counters.listening("@9042,192.0.2.1", str(proc)) == (False, set())


@pytest.mark.parametrize("family", [socket.AF_INET6, -1])
def test_an_address_with_a_scope_or_of_a_family_that_the_kernel_lacks_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, proc: Path, family: int
) -> None:
    (proc / "net" / "tcp").write_text(HEAD + socket_line("0100007F"))
    add(proc, 10, "java")
    resolved = [(family, 0, 0, "", ("::1%lo", 0, 0, 0)), (socket.AF_INET, 0, 0, "", ("127.0.0.1", 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: resolved)
    assert counters.listening("@9042,db", str(proc)) == (True, {"10"})


def test_what_can_not_be_seen_or_only_hands_connections_on_is_nobody(proc: Path) -> None:
    (proc / "net" / "tcp").write_text(HEAD + socket_line(ANY_4))
    (proc / "10").mkdir()
    add(proc, 11, "docker-proxy")
    assert counters.listening("@9042,127.0.0.1", str(proc)) == (True, set())


def test_the_processor_time_of_the_database_is_not_other_programs(proc: Path) -> None:
    (proc / "net" / "tcp").write_text(HEAD + socket_line("0100007F"))
    add(proc, 10, "java")
    for places, own in (((), 0.0), (("@9042,127.0.0.1",), 50.0)):
        seen = programs.Programs(b"PLIMSOLL_CLUSTER=c/g1/1", places, proc)
        work(proc, 10, 100)
        seen.look()
        work(proc, 10, 150)
        taken = seen.look()
        assert taken is not None
        assert (taken.own, sum(taken.others.values())) == (own, 50.0 - own)


def test_whatever_the_listener_has_started_is_the_database_too(proc: Path) -> None:
    (proc / "net" / "tcp").write_text(HEAD + socket_line("0100007F"))
    add(proc, 10, "postgres")
    add(proc, 11, "postgres", inode=78, parent=10)
    (proc / "11" / "environ").write_bytes(b"PATH=/bin\0")
    seen = programs.Programs(b"PLIMSOLL_CLUSTER=c/g1/1", ("@9042,127.0.0.1",), proc)
    seen.look()
    add(proc, 12, "postgres", inode=79, parent=10)
    (proc / "12" / "environ").write_bytes(b"PATH=/bin\0")
    work(proc, 11, 130, parent=10)
    taken = seen.look()
    assert taken is not None
    assert (taken.own, taken.others) == (130.0, {})


def test_systemd_that_listens_for_a_service_starts_much_else(proc: Path) -> None:
    (proc / "net" / "tcp").write_text(HEAD + socket_line("0100007F"))
    add(proc, 1, "systemd", parent=0)
    add(proc, 10, "postgres")
    assert counters.listening("@9042,127.0.0.1", str(proc)) == (True, {"10"})


def test_all_processes_of_the_user_as_whom_it_runs_are_the_database(proc: Path) -> None:
    add(proc, 10, "java", user=990)
    add(proc, 11, "cron", user=0)
    seen = programs.Programs(b"PLIMSOLL_CLUSTER=c/g1/1", ("~990",), proc)
    seen.look()
    work(proc, 10, 150)
    work(proc, 11, 107)
    taken = seen.look()
    assert taken is not None
    assert (taken.own, sum(taken.others.values())) == (50.0, 7.0)


@pytest.mark.parametrize("user", ["~nobody-of-that-name", "~990"])
def test_whose_time_it_is_is_not_known_while_no_process_of_the_user_is_seen(proc: Path, user: str) -> None:
    """As where `/proc` is mounted with `hidepid`."""
    add(proc, 10, "java")
    add(proc, 11, "java", user=990)
    (proc / "11" / "status").unlink()
    seen = programs.Programs(b"PLIMSOLL_CLUSTER=c/g1/1", (user,), proc)
    assert (seen.look(), seen.look()) == (None, None)
