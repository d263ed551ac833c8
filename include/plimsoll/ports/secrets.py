"""Keys and credentials by the name of a connection. They live in memory only."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class SshIdentity:
    """Who logs in and with what. `user` is empty where the connection does not say; neither secret shows in `repr`."""

    user: str
    private_key: str = field(repr=False)
    """The key's text, OpenSSH or PEM."""
    passphrase: str = field(default="", repr=False)


@dataclass(frozen=True)
class AwsAccess:
    """`client(service, region)` is a boto3 client with timeouts and bounded retries; region None: the connection's.

    The endpoint is the connection's, so that any compatible service can stand in.
    """

    client: Callable[[str, str | None], Any] = field(repr=False)


class Secrets(Protocol):
    """Where keys and credentials come from. Every method raises SecretError for what can't be had."""

    def ssh_identity(self, connection_id: str) -> SshIdentity:
        """The key of a connection to hosts."""

    def aws(self, connection_id: str) -> AwsAccess:
        """The access that a connection to AWS gives."""
