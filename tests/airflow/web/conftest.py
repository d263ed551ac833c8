"""The app as the api-server mounts it, with Airflow's own auth manager, and a store with cells in every state."""

import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.stored import store_every_state

with warnings.catch_warnings():
    # Airflow's server imports it too: it is of another mind about the HTTP library that comes with it.
    warnings.simplefilter("ignore")
    from fastapi.testclient import TestClient

CHECKOUT = Path(__file__).resolve().parents[3]
DEFINITION = instant_definition("demo", variants=3, loads=2, repeats=1)
CAMPAIGN = "demo-mine"
Client = Callable[..., TestClient]


@pytest.fixture(scope="session")
def airflow_app(database: None) -> Iterator[FastAPI]:
    """The app as `mounted`."""
    with mounted() as app:
        yield app


@contextmanager
def mounted() -> Iterator[FastAPI]:
    """Plimsoll's app below its prefix, with the middleware that Airflow puts before every app."""
    from airflow.api_fastapi.app import init_auth_manager, purge_cached_app
    from airflow.api_fastapi.auth.middlewares.refresh_token import JWTRefreshMiddleware

    from plimsoll_airflow.web.app import create_app

    root = FastAPI()
    root.mount("/plimsoll", create_app())
    root.add_middleware(JWTRefreshMiddleware)
    init_auth_manager(root)
    yield root
    purge_cached_app()


@pytest.fixture
def client(airflow_app: FastAPI) -> Client:
    """A client without a token, or with one of a user of that role: as a bearer, or as a browser's cookie."""

    def make(role: str | None = None, *, browser: bool = False, **headers: str) -> TestClient:
        made = TestClient(airflow_app, base_url="http://airflow.test", follow_redirects=False, headers=headers)
        if role and browser:
            made.cookies.set("_token", token_of(role))
        elif role:
            made.headers["Authorization"] = f"Bearer {token_of(role)}"
        return made

    return make


def token_of(role: str, *, lifetime_s: int = 3600) -> str:
    from airflow.api_fastapi.app import get_auth_manager
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser

    manager: Any = get_auth_manager()
    token: str = manager.generate_jwt(
        SimpleAuthManagerUser(username=f"the {role}", role=role), expiration_time_in_seconds=lifetime_s
    )
    return token


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """One campaign: a met, a missed, an invalid, a failed, a running and a waiting cell."""
    made = Installation(tmp_path_factory.mktemp("stored"))
    made.define(DEFINITION)
    store_every_state(made, DEFINITION, CAMPAIGN)
    return made


@pytest.fixture
def campaign(installation: Installation, stored: Installation) -> Installation:
    """A copy of it, for the test alone."""
    shutil.copytree(stored.folder, installation.folder, dirs_exist_ok=True)
    return installation
