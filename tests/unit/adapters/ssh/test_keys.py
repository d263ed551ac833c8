"""Keys as texts."""

import base64
from typing import Any

import paramiko
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from tests.unit.adapters.ssh.host_key_line import LINE

from plimsoll.adapters.hosts.reached import parse_host_key
from plimsoll.adapters.providers.ssh.login import private_key
from plimsoll.domain.text.errors import SecretError
from plimsoll.ports.secrets import SshIdentity


def test_a_host_key_is_read_with_or_without_a_comment() -> None:
    assert parse_host_key(LINE) == parse_host_key(" ".join(LINE.split()[:2]) + "\n")


def test_it_is_shown_as_ssh_shows_it() -> None:
    expected = paramiko.PKey.from_type_string("ssh-ed25519", base64.b64decode(LINE.split()[1])).fingerprint
    assert str(parse_host_key(LINE)) == f"ssh-ed25519 {expected}"


def test_an_rsa_host_never_signs_with_sha1() -> None:
    blob = base64.b64encode(b"\0\0\0\x07ssh-rsa" + bytes(8)).decode()
    assert parse_host_key(f"ssh-rsa {blob}").algorithms == ("rsa-sha2-512", "rsa-sha2-256")


NO_KEYS = [
    "",
    "ssh-ed25519",
    "ssh-dss AAAAB3NzaC1kc3M=",
    "ssh-ed25519 !!!",
    "ssh-ed25519 AAAA",
    LINE.replace("ssh-ed25519", "ssh-rsa"),
]


@pytest.mark.parametrize("text", NO_KEYS)
def test_what_is_no_host_key_is_refused(text: Any) -> None:
    with pytest.raises(ValueError, match="a host key looks like"):
        parse_host_key(text)


def test_a_private_key_that_is_none_is_refused_without_being_shown() -> None:
    text = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n"
    with pytest.raises(SecretError, match="connection 'bench'") as refused:
        private_key(SshIdentity("me", text), "bench")
    assert "c2VjcmV0" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_private_key_that_was_copied_badly_is_refused_without_being_shown() -> None:
    """Parsers fail in many ways on such texts, and some of these quote the key."""
    made = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    text = made.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()
    first, *body, last = text.splitlines()
    without_a_line = ["\n".join([first, *body[:n], *body[n + 1 :], last, ""]) for n in range(len(body))]
    shortened = [f"{text[:length]}\n{last}\n" for length in range(40, len(text) - len(last) - 4, 4)]
    for copied in (text[: -len(last) - 1], *without_a_line, *shortened):
        with pytest.raises(SecretError, match="connection 'bench'") as refused:
            private_key(SshIdentity("me", copied), "bench")
        assert refused.value.__cause__ is None
        assert not any(line in str(refused.value) for line in body)


def test_an_identity_does_not_show_itself() -> None:
    assert "hidden" not in repr(SshIdentity("me", "hidden", "hidden"))
