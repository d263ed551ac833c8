from base64 import b64decode
from dataclasses import replace
from io import StringIO
from typing import Any

import paramiko
import pytest
from cryptography.hazmat.primitives.serialization import load_ssh_private_key

from plimsoll.adapters.providers.ec2.user_data import host_key
from plimsoll.adapters.providers.ssh.login import authorized_key
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.text.errors import SecretError
from plimsoll.ports.secrets import SshIdentity


def test_a_host_key_is_the_same_for_everyone_who_has_the_connection(identity: SshIdentity, key: ClusterId) -> None:
    assert host_key(identity, key) == host_key(replace(identity, user="another"), key)
    # Secrets come with and without their last line end.
    assert host_key(identity, key) == host_key(replace(identity, private_key=identity.private_key + "\n"), key)


def test_every_attempt_and_every_connection_has_a_host_key_of_its_own(identity: SshIdentity, key: ClusterId) -> None:
    other = replace(identity, private_key=identity.private_key.replace("A", "B"))
    keys = {
        host_key(identity, key).public,
        host_key(identity, key.model_copy(update={"name": "g1-040k-r3/3"})).public,
        host_key(identity, key.model_copy(update={"name": "g1-050k-r3/2"})).public,
        host_key(other, key).public,
    }
    assert len(keys) == 4


def test_the_private_text_is_a_key_that_openssh_reads_and_fits_the_public_line(
    identity: SshIdentity, key: ClusterId
) -> None:
    made = host_key(identity, key)
    loaded = paramiko.Ed25519Key.from_private_key(StringIO(made.private))
    assert f"{loaded.get_name()} {loaded.get_base64()}" == made.public


def test_secrets_do_not_show(identity: SshIdentity, key: ClusterId) -> None:
    assert "PRIVATE" not in repr(host_key(identity, key))


def test_the_host_key_has_nothing_of_the_connections_private_key(identity: SshIdentity, key: ClusterId) -> None:
    secret = load_ssh_private_key(identity.private_key.encode(), None).private_bytes_raw()
    assert secret in _content(identity.private_key)
    assert secret not in _content(host_key(identity, key).private)


def _content(text: Any) -> Any:
    return b64decode("".join(text.strip().splitlines()[1:-1]))


def test_the_key_that_may_log_in_is_the_connections(identity: SshIdentity) -> None:
    loaded = paramiko.Ed25519Key.from_private_key(StringIO(identity.private_key))
    assert authorized_key(identity, "plimsoll_ssh") == f"ssh-ed25519 {loaded.get_base64()}"


def test_a_key_that_is_none_is_refused_by_the_connections_name(identity: SshIdentity) -> None:
    with pytest.raises(SecretError, match="plimsoll_ssh"):
        authorized_key(replace(identity, private_key="no key"), "plimsoll_ssh")
