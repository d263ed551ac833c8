"""Whether an sshd that was just started answers: it returns to its caller a moment before it listens."""

import socket
import time

_TRIES, _PAUSE_S = 500, 0.1


def sshd_answers(address: str) -> bool:
    """Wait until it says that it is an SSH server. False where it has not after 50 s."""
    for _ in range(_TRIES):
        if _greets(address):
            return True
        time.sleep(_PAUSE_S)
    return False


def _greets(address: str) -> bool:
    # `create_connection` needs a codec from a file, and inside a host Python's files are elsewhere than at its start.
    with socket.socket(socket.AF_INET) as connection:
        connection.settimeout(1)
        try:
            connection.connect((address, 22))
            return connection.recv(4) == b"SSH-"
        except OSError:
            return False
