"""Keys and credentials by the name of a connection. They are kept in memory only."""

from collections.abc import Callable, Mapping
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


@dataclass(frozen=True)
class AccessNames:
    """What the parts of an access are called where people give them: by default in a connection of Airflow."""

    login: str = "login and password of the connection"
    authority: str = "`authority` in the connection's extras"
    certificate: str = "`certificate` and `private_key` in the connection's extras"


@dataclass(frozen=True)
class DatabaseAccess:
    """The user and the certificates for a database, the latter in PEM. Each is empty where there is none.

    `repr` shows no secret. Without `authority`, whose certificate signs those of the nodes, the authorities that the
    operating system trusts do.
    """

    user: str = ""
    password: str = field(default="", repr=False)
    authority: str = field(default="", repr=False)
    certificate: str = field(default="", repr=False)
    key: str = field(default="", repr=False)
    """The private key of `certificate`, as PKCS #8."""
    names: AccessNames = AccessNames()


@dataclass(frozen=True)
class CommandSecrets:
    """What commands are given to log in: variables of their environment, and variables that name files in memory.

    `repr` shows no secret.
    """

    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    files: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variable → the content of the file that it names, which only its user may read."""


class Secrets(Protocol):
    """A source of keys and credentials. Every method raises SecretError for a secret that can't be had."""

    def ssh_identity(self, connection_id: str) -> SshIdentity:
        """Return the key of a connection to hosts."""

    def aws(self, connection_id: str) -> AwsAccess:
        """Return the access that a connection to AWS gives."""


class DatabaseSecrets(Protocol):
    """A source of users and certificates for databases that somebody else runs."""

    def database(self, connection_id: str) -> DatabaseAccess:
        """Return those of a connection. Raises SecretError where it can't be had."""
