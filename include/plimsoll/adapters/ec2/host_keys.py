"""SSH keys of an attempt's hosts: the host key that they must show, and the key that may log in.

The host key is derived, never kept: its seed is an HMAC of the attempt's name under the SSH connection's private key.
So every process that may log in to the hosts knows which key they must show, without asking anyone; nobody else can
make it; and it tells nothing of the private key itself. It lies in the hosts' user data and nowhere else.
"""

import hashlib
import hmac
import struct
from base64 import encodebytes
from dataclasses import dataclass, field
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_ssh_private_key,
)

from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.errors import SecretError
from plimsoll.ports.secrets import SshIdentity

_PURPOSE = "plimsoll ssh host key 1"
_KIND = b"ssh-ed25519"


@dataclass(frozen=True)
class HostKey:
    """`public` is a line such as `ssh-ed25519 AAAA…`; `private` the OpenSSH text."""

    public: str
    private: str = field(repr=False)


def host_key(identity: SshIdentity, key: AttemptKey) -> HostKey:
    """The Ed25519 key that all hosts of that attempt show. The same text every time."""
    secret = identity.private_key.strip().encode()
    seed = hmac.new(secret, f"{_PURPOSE}\n{key}".encode(), hashlib.sha256).digest()
    public = Ed25519PrivateKey.from_private_bytes(seed).public_key()
    line = public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    return HostKey(line, _openssh(seed, public.public_bytes(Encoding.Raw, PublicFormat.Raw)))


def authorized_key(identity: SshIdentity, where: str) -> str:
    """The line of `authorized_keys` that lets the identity in; SecretError when its key can't be read."""
    text = identity.private_key.encode()
    passphrase = identity.passphrase.encode() or None
    try:
        loaded = _loaded(text, passphrase)
        line: bytes = loaded.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        mend = "give the connection a private key (OpenSSH or PEM: Ed25519, ECDSA or RSA) and its passphrase"
        # Not the library's message: it may quote the key.
        raise SecretError("its private key can't be read", where=where, mend=mend) from error
    return line.decode()


def _loaded(text: bytes, passphrase: bytes | None) -> Any:
    if b"BEGIN OPENSSH PRIVATE KEY" in text:
        return load_ssh_private_key(text, passphrase)
    return load_pem_private_key(text, passphrase)


def _openssh(seed: bytes, public: bytes) -> str:
    """The format `openssh-key-v1`, unencrypted.

    Libraries put a random number in it. A repeated request for hosts must be the same to the byte, else AWS takes it
    for another.
    """
    check = hashlib.sha256(seed).digest()[:4]
    secret = check + check + _strings(_KIND, public, seed + public, b"")
    secret += bytes(range(1, 1 + -len(secret) % 8))
    named = _strings(_KIND, public)
    blob = b"openssh-key-v1\0" + _strings(b"none", b"none", b"") + struct.pack(">I", 1) + _strings(named, secret)
    return f"-----BEGIN OPENSSH PRIVATE KEY-----\n{encodebytes(blob).decode()}-----END OPENSSH PRIVATE KEY-----\n"


def _strings(*parts: bytes) -> bytes:
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)
