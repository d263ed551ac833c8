"""A running Airflow as programs outside of it use it: with a token, and by events of an asset."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx
from tests.support.airflow.stack import StackUnderTest


@contextmanager
def logged_in(airflow: StackUnderTest) -> Iterator[httpx.Client]:
    """Provide a client of its REST API, and of Plimsoll's, with the token of an administrator."""
    login = {"username": "admin", "password": airflow.stack.home.password_of("admin")}
    with httpx.Client(base_url=airflow.running.url, timeout=60, trust_env=False) as api:
        token = api.post("/auth/token", json=login).raise_for_status().json()["access_token"]
        api.headers["Authorization"] = f"Bearer {token}"
        yield api


def send(api: httpx.Client, asset: str, extra: Mapping[str, object]) -> None:
    """Send an event of the asset with that name."""
    assets = api.get("/api/v2/assets", params={"name_pattern": asset}).raise_for_status().json()["assets"]
    [asset_id] = [one["id"] for one in assets if one["name"] == asset]
    api.post("/api/v2/assets/events", json={"asset_id": asset_id, "extra": extra}).raise_for_status()
