"""A connection to a node that ends while an answer is awaited."""

import socket
from threading import Thread

import pytest

from plimsoll.adapters.native_protocol import Session, frames
from plimsoll.adapters.native_protocol.frames import Opcode
from plimsoll.domain.text.errors import ProviderError
from plimsoll.ports.secrets import DatabaseAccess


def test_a_node_that_hangs_up_is_named_with_what_mends_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(frames.HEADER.pack(0x84, 0, 0, Opcode.READY, 0))
                connection.recv(1 << 16)

        served = Thread(target=serve)
        served.start()
        with Session("127.0.0.1", port, DatabaseAccess(), None) as session, pytest.raises(ProviderError) as raised:
            session.rows("SELECT rack FROM system.local")
        served.join()
    assert str(raised.value).startswith(f"127.0.0.1:{port}: the connection was closed\n  To mend it: ")
