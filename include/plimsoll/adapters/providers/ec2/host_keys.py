"""SSH keys of a cluster's hosts: the host key that they must present, and the key that may log in.

The host key is derived and never stored: its seed is an HMAC of the cluster's name under the SSH connection's private
key. So every process that may log in to the hosts knows their host key without asking. Nobody else can compute it, and
it reveals nothing about the private key. The host key is stored only in the hosts' user data.
"""

import hashlib
import hmac
import struct
from base64 import encodebytes
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from plimsoll.adapters.providers.ssh.keys import private_key
from plimsoll.domain.cluster import ClusterId
from plimsoll.ports.secrets import SshIdentity

_PURPOSE = "plimsoll ssh host key 1"
_KIND = b"ssh-ed25519"


@dataclass(frozen=True)
class HostKeyPair:
    """`public` is a line such as `ssh-ed25519 AAAA…`; `private` the OpenSSH text."""

    public: str
    private: str = field(repr=False)


def host_key(identity: SshIdentity, cluster_id: ClusterId) -> HostKeyPair:
    """Return the Ed25519 host key of all hosts of that cluster. The text is the same every time."""
    secret = identity.private_key.strip().encode()
    seed = hmac.new(secret, f"{_PURPOSE}\n{cluster_id}".encode(), hashlib.sha256).digest()
    public = Ed25519PrivateKey.from_private_bytes(seed).public_key()
    line = public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    return HostKeyPair(line, _openssh(seed, public.public_bytes(Encoding.Raw, PublicFormat.Raw)))


def authorized_key(identity: SshIdentity, connection_id: str) -> str:
    """Return the line of `authorized_keys` for the identity. Raises SecretError when its key can't be read."""
    key = private_key(identity, connection_id)
    return f"{key.get_name()} {key.get_base64()}"


def _openssh(seed: bytes, public: bytes) -> str:
    """Return the key in the format `openssh-key-v1`, unencrypted.

    Libraries put a random number into this format. A repeated request for hosts must be equal in every byte, otherwise
    AWS takes it for another request.
    """
    check = hashlib.sha256(seed).digest()[:4]
    secret = check + check + _strings(_KIND, public, seed + public, b"")
    secret += bytes(range(1, 1 + -len(secret) % 8))
    named = _strings(_KIND, public)
    blob = b"openssh-key-v1\0" + _strings(b"none", b"none", b"") + struct.pack(">I", 1) + _strings(named, secret)
    return f"-----BEGIN OPENSSH PRIVATE KEY-----\n{encodebytes(blob).decode()}-----END OPENSSH PRIVATE KEY-----\n"


def _strings(*parts: bytes) -> bytes:
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)
