"""Options of the ssh provider in a definition, `provider: {name: ssh, options: {…}}`, with the address of each
host and the user who logs in.
"""

import base64
import binascii
import hashlib
from collections import Counter
from dataclasses import dataclass
from io import StringIO
from ipaddress import ip_address
from typing import Annotated, Self

import paramiko
from pydantic import Field, field_validator, model_validator

from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import SecretError
from plimsoll.domain.text.units import Size
from plimsoll.ports.secrets import SshIdentity

_KINDS: tuple[type[paramiko.PKey], ...] = (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey)
_HOST_KINDS = ("ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa")
# What a host with an RSA key signs with; the key's own name, ssh-rsa, is also that of a broken signature.
_RSA_SIGNATURES = ("rsa-sha2-512", "rsa-sha2-256")


@dataclass(frozen=True)
class HostKey:
    """A host's public key."""

    kind: str
    blob: bytes

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Return the signature algorithms with which the host can prove this key."""
        return _RSA_SIGNATURES if self.kind == "ssh-rsa" else (self.kind,)

    def __str__(self) -> str:
        """Return the fingerprint `ssh-ed25519 SHA256:…`, as `ssh-keygen -l` shows it."""
        digest = base64.b64encode(hashlib.sha256(self.blob).digest()).decode().rstrip("=")
        return f"{self.kind} SHA256:{digest}"


def parse_host_key(text: str) -> HostKey:
    """Parse a line `ssh-ed25519 AAAA… comment`. Raises ValueError for anything else."""
    words = text.split()
    form = "a host key looks like `ssh-ed25519 AAAA…`"
    if len(words) < 2 or words[0] not in _HOST_KINDS:
        raise ValueError(f"{form}; its first word is one of {', '.join(_HOST_KINDS)}")
    try:
        blob = base64.b64decode(words[1], validate=True)
    except binascii.Error as error:
        raise ValueError(f"{form}; its second word is no base64: {error}") from error
    kind = words[0].encode()
    if blob[:4] != len(kind).to_bytes(4, "big") or blob[4 : 4 + len(kind)] != kind:
        raise ValueError(f"{form}; its second word holds no key of the kind {words[0]}")
    return HostKey(words[0], blob)


def private_key(identity: SshIdentity, connection_id: str) -> paramiko.PKey:
    """Parse a private key. Raises SecretError, which never contains the text."""
    where = f"connection {connection_id!r}"
    for kind in _KINDS:
        try:
            return kind.from_private_key(StringIO(identity.private_key), identity.passphrase or None)
        except paramiko.PasswordRequiredException:
            mend = "give its passphrase in the connection, or a key without one"
            # No cause: what a parser complains of may quote the key.
            raise SecretError("the private key is locked by a passphrase", where=where, mend=mend) from None
        except (paramiko.SSHException, ValueError, binascii.Error):
            continue
    what = "its private key can't be used: no Ed25519, ECDSA or RSA key, or the passphrase is wrong"
    raise SecretError(what, where=where, mend="give an OpenSSH or PEM private key, whole, with its line ends")


_GIB = 1 << 30
# No colon and the like: class paths are made of it. A tilde stands for the user's home.
_Folder = Annotated[str, Field(pattern=r"^~?(/\.?[A-Za-z0-9_][A-Za-z0-9._-]*)+$", examples=["/var/lib/plimsoll"])]


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


class HostOptions(Model):
    """One machine."""

    address: Annotated[str, Field(description="IP address at which the group's other hosts reach it")]
    host_key: Annotated[str, Field(description="Its public host key: `ssh-ed25519 AAAA…`")]
    ssh_address: Annotated[str, Field(description="Name or address for the controller, if another")] = ""
    port: Annotated[int, Field(ge=1, le=65535, description="Port of its sshd")] = 22
    user: Annotated[str, Field(description="Who logs in; the connection's user if empty")] = ""
    facts: Annotated[dict[str, str], Field(description="What else is to stand in the fingerprint: model, rack")] = {}

    @field_validator("address")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        try:
            return str(ip_address(value))
        except ValueError:
            raise ValueError(f"{value!r} is no IP address; a name can stand in `ssh_address`") from None

    @field_validator("host_key")
    @classmethod
    def _is_a_key(cls, value: str) -> str:
        parse_host_key(value)
        return value

    @property
    def reached_at(self) -> str:
        """Return the name or address at which the controller reaches it."""
        return self.ssh_address or self.address

    def target(self, connection_id: str) -> Target:
        """Return the address, port and user for connections."""
        return Target(self.reached_at, self.host_key, connection_id, self.port, self.user)


class GroupOptions(Model):
    """Hosts that make up one cluster at a time."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", description="Name of the group")]
    nodes: Annotated[
        tuple[HostOptions, ...],
        Field(description="Database nodes, the seed first; none where a group is load hosts for an external cluster"),
    ] = ()
    load: Annotated[HostOptions, Field(description="Where the load generator runs")]
    further_load_hosts: Annotated[
        tuple[HostOptions, ...], Field(description="Where it runs besides, for definitions with several load hosts")
    ] = ()
    folder: Annotated[_Folder | None, Field(description="Instead of the provider's")] = None

    @property
    def loads(self) -> tuple[HostOptions, ...]:
        """Return all load hosts, the first one first."""
        return (self.load, *self.further_load_hosts)

    @property
    def hosts(self) -> tuple[HostOptions, ...]:
        """Return nodes and load hosts."""
        return (*self.nodes, *self.loads)


class SshOptions(Model):
    """Which machines there are."""

    groups: Annotated[tuple[GroupOptions, ...], Field(min_length=1, description="One cluster each at a time")]
    connection: Annotated[str, Field(min_length=1, description="Connection whose key logs in")] = "ssh_default"
    folder: Annotated[_Folder, Field(description="Where clusters live on every host")] = "~/.plimsoll"
    disk_per_host: Annotated[Size, Field(description="Free disk that each host must have below it")] = 20 * _GIB

    @model_validator(mode="after")
    def _hosts_are_in_one_group(self) -> Self:
        repeated = [name for name, count in Counter(group.name for group in self.groups).items() if count > 1]
        places = Counter(place for group in self.groups for place in self._places(group))
        repeated += [f"{address}:{port}" for (address, port, _), count in places.items() if count > 1]
        if repeated:
            raise ValueError(f"stands in more than one group: {', '.join(repeated)}")
        return self

    def folder_of(self, group: GroupOptions) -> str:
        """Return the folder of that group's clusters on its hosts."""
        return group.folder or self.folder

    def _places(self, group: GroupOptions) -> set[tuple[str, int, str]]:
        return {(host.reached_at, host.port, self.folder_of(group)) for host in group.hosts}
