"""SSH keys as text: public keys of hosts, private keys of users. Pure."""

import base64
import binascii
import hashlib
from dataclasses import dataclass
from io import StringIO

import paramiko

from plimsoll.domain.text.errors import SecretError
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
