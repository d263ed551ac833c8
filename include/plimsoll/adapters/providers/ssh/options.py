"""Options of the ssh provider in a definition, `provider: {name: ssh, options: {…}}`."""

from collections import Counter
from io import StringIO
from itertools import chain
from typing import Annotated, Self

import paramiko
from pydantic import Field, model_validator

from plimsoll.adapters.hosts.reached import HostOptions
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import SecretError
from plimsoll.domain.text.units import Size
from plimsoll.ports.secrets import SshIdentity

_KINDS: tuple[type[paramiko.PKey], ...] = (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey)


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
        except Exception:  # noqa: S112 - of a text that is damaged it raises even IndexError; what it says may quote it
            continue
    what = "its private key can't be used: no Ed25519, ECDSA or RSA key, or the passphrase is wrong"
    raise SecretError(what, where=where, mend="give an OpenSSH or PEM private key, whole, with its line ends")


def authorized_key(identity: SshIdentity, connection_id: str) -> str:
    """Return the line of `authorized_keys` for the identity. Raises SecretError when its key can't be read."""
    key = private_key(identity, connection_id)
    return f"{key.get_name()} {key.get_base64()}"


_GIB = 1 << 30
# No colon and the like: class paths are made of it. A tilde stands for the user's home.
FOLDER = r"^~?(/\.?[A-Za-z0-9_][A-Za-z0-9._-]*)+$"
_Folder = Annotated[str, Field(pattern=FOLDER, examples=["/var/lib/plimsoll"])]


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
        return (self.load, *self.further_load_hosts)

    @property
    def hosts(self) -> tuple[HostOptions, ...]:
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
        # A set of each group's, because its hosts may be addresses of one machine
        reached = [
            {(host.reached_at, host.port, self.folder_of(group)) for host in group.hosts} for group in self.groups
        ]
        places = Counter(chain.from_iterable(reached))
        repeated += [f"{address}:{port}" for (address, port, _), count in places.items() if count > 1]
        if repeated:
            raise ValueError(f"stands in more than one group: {', '.join(repeated)}")
        return self

    def folder_of(self, group: GroupOptions) -> str:
        return group.folder or self.folder
