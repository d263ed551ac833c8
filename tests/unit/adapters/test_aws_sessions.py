"""Sessions of AWS's API share what a process has read of AWS's services, and nothing else."""

import json
from pathlib import Path
from typing import Any

import pytest
from botocore.loaders import JSONFileLoader

from plimsoll.adapters.aws import new_session

METADATA = {
    "apiVersion": "2026-01-01",
    "endpointPrefix": "mine",
    "protocol": "json",
    "serviceFullName": "Mine",
    "serviceId": "Mine",
    "signatureVersion": "v4",
}


def describe_mine(folder: Path) -> None:
    """Describe the service `mine` in a folder of the user's."""
    described = {"version": "2.0", "metadata": METADATA, "operations": {}, "shapes": {}}
    (folder / "mine" / "2026-01-01").mkdir(parents=True)
    (folder / "mine" / "2026-01-01" / "service-2.json").write_text(json.dumps(described))


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
    describe_mine(tmp_path)
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))
    session = new_session(aws_access_key_id="a", aws_secret_access_key="b")
    assert "mine" in session.get_available_services()


def test_a_named_profile_is_used_whatever_the_environment_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    describe_mine(tmp_path)
    keys = "aws_access_key_id = of-the-profile\naws_secret_access_key = b"
    (tmp_path / "config").write_text(f"[profile good]\n{keys}\ndata_path = {tmp_path}\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_PROFILE", "missing")
    session = new_session(profile_name="good")
    assert session.profile_name == "good"
    assert session.get_credentials().access_key == "of-the-profile"
    assert "mine" in session.get_available_services()
