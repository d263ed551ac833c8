"""Keys from the environment."""

from pathlib import Path

import pytest

from plimsoll.adapters.secrets import DatabaseVariables, EnvironmentSecrets
from plimsoll.domain.text.errors import SecretError


def test_the_key_of_the_named_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("text of a key")
    identity = EnvironmentSecrets(tmp_path / "key", "me").ssh_identity("any")
    assert (identity.user, identity.private_key) == ("me", "text of a key")


def test_no_key_says_which_setting(tmp_path: Path) -> None:
    with pytest.raises(SecretError, match="PLIMSOLL_SSH_KEY"):
        EnvironmentSecrets(None).ssh_identity("any")


@pytest.mark.parametrize("content", [None, b"\xff\xfe\xff"])
def test_a_key_that_can_not_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    if content:
        (tmp_path / "key").write_bytes(content)
    with pytest.raises(SecretError, match="can't be read") as refused:
        EnvironmentSecrets(tmp_path / "key").ssh_identity("any")
    assert refused.value.where == str(tmp_path / "key")


def test_the_endpoint_of_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:5000")
    client = EnvironmentSecrets(None).aws("any").client("ec2", "eu-central-1")
    assert client.meta.endpoint_url == "http://127.0.0.1:5000"
    assert client.meta.region_name == "eu-central-1"
    assert client.meta.config.connect_timeout == 10


def test_a_client_without_a_region_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(SecretError, match="name a region"):
        EnvironmentSecrets(None).aws("any").client("ec2", None)


def test_a_profile_that_does_not_exist_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_PROFILE", "missing")
    with pytest.raises(SecretError, match=r"missing.*could not be found[\s\S]*check AWS_PROFILE"):
        EnvironmentSecrets(None).aws("any").client("ec2", "eu-central-1")


def test_a_databases_user_and_its_certificates(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("BEGIN CERTIFICATE")
    given = DatabaseVariables("me", "secret", tmp_path / "ca.pem")
    access = EnvironmentSecrets(None, database=given).database("any")
    assert (access.user, access.password, access.authority, access.key) == ("me", "secret", "BEGIN CERTIFICATE", "")
    assert "secret" not in f"{access}{given}"


def test_a_databases_certificate_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    variables = DatabaseVariables("me", "secret", authority=tmp_path / "ca.pem")
    with pytest.raises(SecretError, match="can't be read") as refused:
        EnvironmentSecrets(None, database=variables).database("any")
    assert "PLIMSOLL_DATABASE_AUTHORITY" in refused.value.mend
