"""Free ports on loopback."""

import socket

import pytest

from plimsoll_airflow.local.ports import LOOPBACK, reserved


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
