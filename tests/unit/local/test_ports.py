"""Free ports on loopback."""

import socket

from plimsoll_airflow.local.ports import LOOPBACK, any_free, is_free, pick


def test_a_port_that_somebody_listens_on_is_not_picked() -> None:
    with socket.create_server((LOOPBACK, 0)) as server:
        taken: int = server.getsockname()[1]
        assert not is_free(taken)
        assert pick(taken) != taken


def test_a_preferred_port_that_is_free_is_picked() -> None:
    port = any_free()
    assert pick(port) == port


def test_without_a_preference_any_free_port_does() -> None:
    assert is_free(pick(None))
