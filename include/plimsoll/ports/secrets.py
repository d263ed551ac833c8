"""Keys and credentials by the name of a connection. They are kept in memory only."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class SshIdentity:
    """The user name and private key for SSH. `user` is empty where the connection has none. `repr` shows no secret."""

    user: str
    private_key: str = field(repr=False)
    """The key's text, OpenSSH or PEM."""
    passphrase: str = field(default="", repr=False)


@dataclass(frozen=True)
class AwsAccess:
    """`client(service, region)` makes a boto3 client with timeouts and bounded retries.

    Region None: the connection's own.

    The connection also gives the endpoint, so any compatible service can be used.
    """

    client: Callable[[str, str | None], Any] = field(repr=False)


class Secrets(Protocol):
    """A source of keys and credentials. Every method raises SecretError for a secret that can't be had."""

    def ssh_identity(self, connection_id: str) -> SshIdentity:
        """Return the key of a connection to hosts."""

    def aws(self, connection_id: str) -> AwsAccess:
        """Return the access that a connection to AWS gives."""
