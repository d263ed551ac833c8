"""Which host is reached, and as whom."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """Where a host's sshd listens and what must be true of it. Nothing in it is secret.

    `host_key` is the host's public key as in `/etc/ssh/ssh_host_ed25519_key.pub`: `ssh-ed25519 AAAA…`.
    `connection_id` names the connection whose key logs in; an empty `user` is that connection's.
    """

    address: str
    host_key: str
    connection_id: str
    port: int = 22
    user: str = ""

    @property
    def place(self) -> str:
        """`bench@10.0.0.7:22`."""
        return f"{self.user}@{self.address}:{self.port}" if self.user else f"{self.address}:{self.port}"
