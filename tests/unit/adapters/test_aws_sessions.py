"""Sessions of AWS's API share what a process has read of AWS's services, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest
from botocore.loaders import JSONFileLoader

from plimsoll.adapters.aws_sessions import new_session

METADATA = {
    "apiVersion": "2026-01-01",
    "endpointPrefix": "mine",
    "protocol": "json",
    "serviceFullName": "Mine",
    "serviceId": "Mine",
    "signatureVersion": "v4",
}


def client_of(service: str, key: str = "a") -> Any:
    session: Any = new_session(aws_access_key_id=key, aws_secret_access_key="secret")
    return session.client(service, region_name="us-east-1")


def test_a_service_is_read_once_for_all_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    client_of("ssm")
    read: list[str] = []
    monkeypatch.setattr(JSONFileLoader, "load_file", lambda _, path: read.append(path))
    again = client_of("ssm")
    assert again.meta.service_model.service_name == "ssm"
    assert read == []


def test_each_session_has_credentials_of_its_own() -> None:
    urls = [client_of("ssm", key).generate_presigned_url("describe_parameters") for key in ("first", "second")]
    assert ["first" in url for url in urls] == [True, False]
    assert ["second" in url for url in urls] == [False, True]


def test_services_that_the_user_describes_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    client_of("ssm")
    described = {"version": "2.0", "metadata": METADATA, "operations": {}, "shapes": {}}
    folder = tmp_path / "mine" / "2026-01-01"
    folder.mkdir(parents=True)
    (folder / "service-2.json").write_text(json.dumps(described))
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))
    session = new_session(aws_access_key_id="a", aws_secret_access_key="b")
    assert "mine" in session.get_available_services()
