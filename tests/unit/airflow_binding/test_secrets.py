"""Keys from Airflow's connections."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.loaders import JSONFileLoader

from plimsoll.bootstrap import build_secrets
from plimsoll.domain.text.errors import SecretError
from plimsoll_airflow.wiring import core as wiring
from plimsoll_airflow.wiring.secrets import AirflowSecrets


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    def connected(connection_id: Any, **fields: Any) -> None:
        monkeypatch.setenv(f"AIRFLOW_CONN_{connection_id.upper()}", json.dumps(fields))

    return connected


def test_a_key_in_the_connection(connect: Callable[..., Any]) -> None:
    extra = {"private_key": "text of a key", "private_key_passphrase": "words"}
    connect("bench", conn_type="ssh", login="me", extra=extra)
    identity = AirflowSecrets().ssh_identity("bench")
    assert (identity.user, identity.private_key, identity.passphrase) == ("me", "text of a key", "words")


def test_a_key_in_a_file(connect: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "key").write_text("text of a key")
    connect("bench", conn_type="ssh", extra={"key_file": str(tmp_path / "key")})
    identity = AirflowSecrets().ssh_identity("bench")
    assert (identity.user, identity.private_key) == ("", "text of a key")


def test_a_connection_without_a_key_says_where_to_put_it(connect: Callable[..., Any]) -> None:
    connect("bench", conn_type="ssh", login="me", password="not used")
    with pytest.raises(SecretError, match="has no private key") as refused:
        AirflowSecrets().ssh_identity("bench")
    assert "private_key" in refused.value.mend
    assert "not used" not in str(refused.value)


def test_a_connection_that_is_not_there_is_named() -> None:
    for ask in (AirflowSecrets().ssh_identity, lambda name: AirflowSecrets().aws(name).client("ec2", "eu-central-1")):
        with pytest.raises(SecretError, match="connection 'plimsoll_nonesuch'"):
            ask("plimsoll_nonesuch")


def test_an_account_with_its_own_endpoint(connect: Callable[..., Any]) -> None:
    extra = {"endpoint_url": "http://127.0.0.1:5000", "region_name": "eu-west-1"}
    connect("cloud", conn_type="aws", login="key id", password="secret", extra=extra)
    access = AirflowSecrets().aws("cloud")
    assert access.client("ec2", "eu-central-1").meta.endpoint_url == "http://127.0.0.1:5000"
    assert access.client("ec2", "eu-central-1").meta.region_name == "eu-central-1"
    assert access.client("s3", None).meta.region_name == "eu-west-1"
    assert "secret" not in repr(access)


def test_what_a_client_takes_is_parsed_once_for_all_of_a_process(
    connect: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    connect("cloud", conn_type="aws", login="key id", password="secret")
    parse, parsed = JSONFileLoader.load_file, list[str]()

    def noting(loader: JSONFileLoader, path: str) -> Any:
        parsed.append(path)
        return parse(loader, path)

    monkeypatch.setattr(JSONFileLoader, "load_file", noting)
    for _ in range(2):
        AirflowSecrets().aws("cloud").client("sns", "eu-central-1")
    assert any("sns" in path for path in parsed)
    assert len(parsed) == len(set(parsed))


def test_airflow_takes_keys_from_its_connections_unless_another_source_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path))  # a toolkit is made once for the same settings
    monkeypatch.setattr(wiring, "build_toolkit", build_secrets)
    assert isinstance(wiring.toolkit(), AirflowSecrets)
    monkeypatch.setenv("PLIMSOLL_SECRETS", "plimsoll.bootstrap:environment_secrets")
    assert not isinstance(wiring.toolkit(), AirflowSecrets)


def test_a_databases_user_and_its_certificates(connect: Callable[..., Any]) -> None:
    extra = {"authority": "a CA", "certificate": "a certificate", "private_key": "its key"}
    connect("staging", conn_type="generic", login="me", password="secret", extra=extra)
    access = AirflowSecrets().database("staging")
    assert (access.user, access.password, access.authority) == ("me", "secret", "a CA")
    assert (access.certificate, access.key) == ("a certificate", "its key")
