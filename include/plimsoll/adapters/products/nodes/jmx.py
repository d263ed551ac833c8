"""JMX of a JVM: open to the JVM's own machine alone, and with a password, since every user of the host gets there."""

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from plimsoll.adapters.products.nodes.machines import own_loopback
from plimsoll.ports.host import Host

_USER = "plimsoll"


@dataclass(frozen=True)
class JmxAccess:
    """The files of a host with the user and the password of its JVMs, and with the rights of that user.

    The JVM does not start if others than its user may read the password.
    """

    password: PurePosixPath
    rights: PurePosixPath

    def write(self, host: Host) -> None:
        """Write both files. A password that is there already stays: a JVM may run with it."""
        if not host.read_tail(self.password, max_bytes=1):
            host.write(self.password, f"{_USER} {secrets.token_hex(32)}\n")
        host.write(self.rights, f"{_USER} readwrite\n")


def jmx_flags(address: str, port: int, access: JmxAccess) -> Iterator[str]:
    """Yield the flags with which a JVM on the host with that address listens there. The JVM's own agent is taken:
    Cassandra's binds every node of one machine to 127.0.0.1.
    """
    prefix = "-Dcom.sun.management.jmxremote"
    yield f"-Djava.rmi.server.hostname={own_loopback(address)}"
    yield f"{prefix}.host={own_loopback(address)}"
    yield f"{prefix}.port={port}"
    yield f"{prefix}.rmi.port={port}"
    yield f"{prefix}.authenticate=true"
    yield f"{prefix}.password.file={access.password}"
    yield f"{prefix}.access.file={access.rights}"
    # The node tool reads the password from the same file. JDKs from 9 on would put a hash in its place.
    yield f"{prefix}.password.toHashes=false"
    yield f"{prefix}.ssl=false"
    yield f"{prefix}.local.only=true"


def jmx_places(places: Iterable[tuple[Host, int, JmxAccess]]) -> tuple[str, ...]:
    """Return the node tool's arguments for these JVMs of one machine: where their JMX listens, and the files with their
    passwords.
    """
    listed = list(places)
    ports = ",".join(f"{own_loopback(host.info.address)}:{port}" for host, port, _ in listed)
    files = (word for *_, access in listed for word in ("--password-file", str(access.password)))
    return ("--jmx-port", ports, *files)
