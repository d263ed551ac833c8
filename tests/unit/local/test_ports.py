"""Free ports on loopback."""

import os
import socket
from pathlib import Path

import pytest

from plimsoll_airflow.local.home import LOOPBACK, is_ours, reserved

SOCKETS = Path("/proc/net/tcp")
HEAD = SOCKETS.read_text().splitlines()[0]


def test_a_port_that_somebody_listens_on_is_not_taken() -> None:
    with socket.create_server((LOOPBACK, 0)) as server, reserved(server.getsockname()[1]) as port:
        assert port != server.getsockname()[1]


def test_a_preferred_port_that_is_free_is_taken() -> None:
    with reserved(None) as free:
        pass
    with reserved(free) as port:
        assert port == free


def test_a_reserved_port_is_given_to_nobody_but_a_server_that_names_it() -> None:
    with reserved(None) as port:
        with socket.socket() as stranger, pytest.raises(OSError, match="in use"):
            stranger.bind((LOOPBACK, port))
        with socket.create_server((LOOPBACK, port)) as server:
            assert server.getsockname() == (LOOPBACK, port)


def test_only_a_listener_of_this_user_on_exactly_loopback_is_ours(tmp_path: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as server:
        port = server.getsockname()[1]
        assert is_ours(port)
        row = next(line for line in SOCKETS.read_text().splitlines() if f":{port:04X} 00000000:0000 0A" in line)
    assert not is_ours(port)
    table = tmp_path / "tcp"
    fields = row.split()
    for place, value in ((1, f"00000000:{port:04X}"), (3, "01"), (7, str(os.geteuid() + 1))):
        table.write_text(f"{HEAD}\n{' '.join([*fields[:place], value, *fields[place + 1 :]])}\n")
        assert not is_ours(port, table)
    table.write_text(f"{HEAD}\n{row}\n")
    assert is_ours(port, table)
