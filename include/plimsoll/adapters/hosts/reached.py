"""A machine that is reached over SSH: its address, its expected identity, and who logs in."""

import base64
import binascii
import hashlib
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Annotated

from pydantic import Field, field_validator

from plimsoll.domain.text.base import Model

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
    # The key itself begins with the length of its kind, in four bytes, and the kind
    if blob[:4] != len(kind).to_bytes(4, "big") or blob[4 : 4 + len(kind)] != kind:
        raise ValueError(f"{form}; its second word holds no key of the kind {words[0]}")
    return HostKey(words[0], blob)


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
        return Target(self.reached_at, self.host_key, connection_id, self.port, self.user)
