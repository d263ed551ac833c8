"""The address of a host and the user who logs in."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """Address and port of a host's sshd, and its expected identity. Nothing in it is secret.

    `host_key` is the host's public key as in `/etc/ssh/ssh_host_ed25519_key.pub`: `ssh-ed25519 AAAA…`. `connection_id`
    names the connection whose key logs in. An empty `user` means that connection's user.
    """

    address: str
    host_key: str
    connection_id: str
    port: int = 22
    user: str = ""

    @property
    def place(self) -> str:
        """Return the address in words: `bench@10.0.0.7:22`."""
        return f"{self.user}@{self.address}:{self.port}" if self.user else f"{self.address}:{self.port}"
