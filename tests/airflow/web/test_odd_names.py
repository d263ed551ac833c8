"""Files in the store and among the definitions whose names are no text."""

import os
from pathlib import Path

import pytest
from tests.airflow.web.app import CAMPAIGN, Client
from tests.airflow.web.test_access import ROUTES
from tests.fakes.installation import Installation

from plimsoll_airflow.internals import api_server

ODD = os.fsdecode(b"odd-\xff")


@pytest.mark.parametrize(
    "place", ["", "cells", "cells/v1-001k-r1", "cells/v1-001k-r1/1", "cells/v1-001k-r1/1/raw/load"]
)
def test_a_name_that_is_not_utf_8_is_no_error_of_the_server(client: Client, campaign: Installation, place: str) -> None:
    root = Path(campaign.toolkit.store.url())
    folders = [root, root / CAMPAIGN / place, root / CAMPAIGN / "report", campaign.folder / "campaigns"]
    for folder in folders:
        folder.mkdir(exist_ok=True)
        (folder / ODD).mkdir()
        (folder / ODD / "inner").touch()
        for name in (f"{ODD}.yaml", f"{ODD}.log"):
            (folder / name).touch()
    viewer = client("viewer")
    got = {path: viewer.get(path).status_code for method, path in ROUTES if method == "GET"}
    assert {path: status for path, status in got.items() if status >= 500} == {}


def test_a_run_id_with_a_nul_is_no_run_and_the_database_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise AssertionError("psycopg2: A string literal cannot contain NUL (0x00) characters.")

    monkeypatch.setattr(api_server, "create_session", refuse)
    assert api_server.find_run("demo", "\0") is None
