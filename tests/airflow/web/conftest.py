"""Clients of the app, and a store with cells in every state."""

import shutil
from collections.abc import Iterator

import pytest
from airflow.models.dag import DagModel
from airflow.models.dagrun import DagRun
from airflow.utils.session import create_session
from fastapi import FastAPI
from sqlalchemy import delete, update
from tests.airflow.web.app import CAMPAIGN, DEFINITION, Client, TestClient, mounted, token_of
from tests.fakes.installation import Installation
from tests.support.campaigns.stored import store_every_state
from tests.support.suite.groups import CHECKOUT


@pytest.fixture(scope="session")
def airflow_app(database: None) -> Iterator[FastAPI]:
    """Provide the app as `mounted` makes it."""
    with mounted() as app:
        yield app


@pytest.fixture
def client(airflow_app: FastAPI) -> Client:
    """Provide a client without a token, or with one of a user of that role: as a bearer, or as a browser's cookie."""

    def make(role: str | None = None, *, browser: bool = False, **headers: str) -> TestClient:
        made = TestClient(airflow_app, base_url="http://airflow.test", follow_redirects=False, headers=headers)
        if role and browser:
            made.cookies.set("_token", token_of(role))
        elif role:
            made.headers["Authorization"] = f"Bearer {token_of(role)}"
        return made

    return make


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """Provide one campaign: a met, a missed, an invalid, a failed, a running and a waiting cell."""
    made = Installation(tmp_path_factory.mktemp("stored"))
    made.define(DEFINITION)
    store_every_state(made, DEFINITION, CAMPAIGN)
    return made


@pytest.fixture
def campaign(installation: Installation, stored: Installation) -> Installation:
    """Provide a copy of the stored campaign, for the test alone."""
    shutil.copytree(stored.folder, installation.folder, dirs_exist_ok=True)
    return installation


@pytest.fixture(scope="session")
def dags(database: None, stored: Installation) -> None:
    """Provide the project's DAGs, parsed into the database."""
    from airflow.models.dagbundle import DagBundleModel
    from tests.support.airflow.dag_bag import DagBag, sync_bag_to_db

    with create_session() as session:
        session.merge(DagBundleModel(name="dags-folder"))
    with pytest.MonkeyPatch.context() as environment:
        for name, value in stored.environment.items():
            environment.setenv(name, value)
        folder = CHECKOUT / "dags"
        bag = DagBag(dag_folder=str(folder), bundle_path=folder, bundle_name="dags-folder")
        sync_bag_to_db(bag, "dags-folder", None)
    assert not bag.import_errors


@pytest.fixture
def no_runs(dags: None) -> Iterator[None]:
    """Provide the DAGs, unpaused, without runs of other tests; none is left."""
    with create_session() as session:
        session.execute(update(DagModel).values(is_paused=False))
        session.execute(delete(DagRun))
    yield
    with create_session() as session:
        session.execute(delete(DagRun))
