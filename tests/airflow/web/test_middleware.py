"""Requests to the whole api-server: a run that `plan` would refuse is refused before it exists, by form and REST."""

import json
from typing import Annotated, Any

import pytest
from fastapi import Body, FastAPI, Request
from tests.airflow.web.app import CAMPAIGN, DEFINITION, TestClient, token_of
from tests.fakes.installation import Installation, instant_definition

from plimsoll_airflow.plugin import PlimsollPlugin
from plimsoll_airflow.web.problems import ProblemDocument, without_paths

OTHER = instant_definition("other", variants=3, loads=2, repeats=1)
TRIGGER = "/api/v2/dags/demo/dagRuns"


@pytest.fixture
def root(airflow_app: FastAPI) -> FastAPI:
    """Provide the app behind the plugin's middleware, beside a route like Airflow's own that answers what it got."""
    app = FastAPI()

    @app.post("/api/v2/dags/{dag_id}/dagRuns")
    async def triggered(request: Request) -> Any:
        return {"got": await request.json()}

    app.mount("", airflow_app)
    for one in PlimsollPlugin.fastapi_root_middlewares:
        app.add_middleware(one["middleware"])
    return app


@pytest.fixture
def http(root: FastAPI, installation: Installation) -> TestClient:
    installation.define(DEFINITION)
    installation.define(OTHER)
    installation.open_campaign(DEFINITION, CAMPAIGN)
    installation.open_campaign(OTHER, "of-another")
    made = TestClient(root, base_url="http://airflow.test", follow_redirects=False)
    made.headers["Authorization"] = f"Bearer {token_of('user')}"
    return made


@pytest.mark.parametrize(
    ("conf", "where", "what"),
    [
        ({"cells": "zzz-*"}, "cells", "'zzz-*' fits no cell of 'demo'"),
        ({"cells": "v1-*-r1 *-r9"}, "cells", "'*-r9' fits no cell of 'demo'"),
        ({"parralel": 2}, "parralel", "there is no such parameter"),
        ({"parameters": {"version": "5"}}, "parameters.version", "there is no such parameter"),
        ({"parameters": 5}, "parameters", "must have keys of its own"),
        (
            {"campaign_id": "of-another"},
            "campaign 'of-another'",
            "belongs to another definition, 'other'",
        ),
    ],
)
def test_a_run_that_plan_would_refuse_is_refused_before_it_starts(
    http: TestClient, conf: Any, where: str, what: str
) -> None:
    answer = http.post(TRIGGER, json={"logical_date": None, "conf": conf})
    assert answer.status_code == 400, answer.text
    [problem] = answer.json()["problems"]
    assert (problem["where"], problem["what"]) == (where, what)
    assert problem["mend"]
    # Clients of Airflow's API read no more than this.
    assert answer.json()["detail"] == f"{where}: {what} ({problem['mend']})"
    in_form = http.post(TRIGGER, json={"logical_date": None, "conf": conf}, headers={"Sec-Fetch-Mode": "cors"})
    assert (in_form.status_code, in_form.json()) == (430, {"detail": answer.json()["detail"]})


@pytest.mark.parametrize(
    "conf", [None, {}, {"campaign_id": CAMPAIGN, "cells": "v1-*"}, {"campaign_id": "a-new-one", "cells": None}]
)
def test_other_requests_reach_airflow_unchanged(http: TestClient, conf: Any) -> None:
    body = {"logical_date": None, "conf": conf, "note": "x" * 300_000}
    assert http.post(TRIGGER, json=body).json() == {"got": body}


@pytest.mark.parametrize("dag_id", ["cell", "somebody_elses"])
def test_other_dags_are_airflows_own(http: TestClient, dag_id: str) -> None:
    body = {"conf": {"cells": "zzz-*"}}
    assert http.post(f"/api/v2/dags/{dag_id}/dagRuns", json=body).json() == {"got": body}


@pytest.mark.parametrize("token", ["", "nonsense", "viewer"])
def test_nothing_is_told_to_those_who_may_not_trigger(http: TestClient, token: str) -> None:
    """Airflow answers them; here its route stands open."""
    http.headers["Authorization"] = f"Bearer {token_of(token) if token == 'viewer' else token}"
    assert http.post(TRIGGER, json={"conf": {"cells": "zzz-*"}}).status_code == 200


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"conf": 5}', b"\xff"])
def test_what_is_no_request_is_left_to_airflow(http: TestClient, root: FastAPI, body: bytes) -> None:
    with TestClient(root, base_url="http://airflow.test", raise_server_exceptions=False) as quiet:
        answer = quiet.post(TRIGGER, content=body, headers=dict(http.headers))
    assert "problems" not in answer.text


@pytest.mark.parametrize("depth", [10, 500, 1_000, 100_000])
@pytest.mark.parametrize("inner", ["{}", '{{"conf": {}}}', '{{"conf": {{"cells": {}}}}}', '{{"cells": {}}}'])
def test_brackets_within_brackets_are_no_error_of_the_server_whoever_sends_them(
    http: TestClient, airflow_app: FastAPI, depth: int, inner: str
) -> None:
    app = FastAPI()

    @app.post(TRIGGER)
    async def triggered(_: Annotated[Any, Body()]) -> str:
        return "got"

    app.mount("", airflow_app)
    for one in PlimsollPlugin.fastapi_root_middlewares:
        app.add_middleware(one["middleware"])
    body = inner.format("[" * depth + "]" * depth)
    api = f"/plimsoll/api/v1/campaigns/{CAMPAIGN}"
    with TestClient(app, base_url="http://airflow.test", raise_server_exceptions=False) as quiet:
        quiet.headers["Content-Type"] = "application/json"
        for headers in ({}, dict(http.headers)):
            quiet.headers.update(headers)
            answers = [
                quiet.post(TRIGGER, content=body),
                quiet.post(f"{api}/runs", content=body),
                quiet.put(f"{api}/note", content=body),
            ]
            assert [one.status_code for one in answers if one.status_code >= 500] == []


HALF = "\\ud800"
"""Half of a character, as JSON writes it."""


@pytest.mark.parametrize("half", [HALF, "\\uDFFF", "\ud83d"])
@pytest.mark.parametrize("dag_id", ["demo", "somebody_elses"])
@pytest.mark.parametrize(
    "inner", ['{"conf": {"%s": 1}}', '{"conf": {"cells": [{"a": "b%s"}]}}', '{"conf": null, "note": "%s"}', '{"%s": 1}']
)
def test_half_of_a_character_is_refused_with_words_wherever_it_stands(
    http: TestClient, dag_id: str, inner: str, half: str
) -> None:
    answer = http.post(f"/api/v2/dags/{dag_id}/dagRuns", content=(inner % half).encode(errors="surrogatepass"))
    assert answer.status_code == 400, answer.text
    [problem] = answer.json()["problems"]
    assert (problem["where"], problem["mend"]) == ("the body", "write the whole character, or leave it out")
    assert "which is one half of a character alone" in answer.json()["detail"]


def test_a_whole_character_in_two_halves_is_airflows(http: TestClient) -> None:
    answer = http.post(TRIGGER, content=b'{"conf": {}, "note": "\\ud83d\\ude00"}')
    assert answer.json() == {"got": {"conf": {}, "note": "\U0001f600"}}


def test_half_of_a_character_is_airflows_where_nobody_is_logged_in(root: FastAPI) -> None:
    with TestClient(root, base_url="http://airflow.test", raise_server_exceptions=False) as quiet:
        assert "problems" not in quiet.post(TRIGGER, content=f'{{"note": "{HALF}"}}'.encode()).text


@pytest.mark.parametrize("inner", ['{"%s": "x"}', '{"cells": "%s", "text": "%s"}', '"%s"', '{"text": ["%s"]}'])
def test_half_of_a_character_in_a_body_of_the_pages_is_refused_with_words(http: TestClient, inner: str) -> None:
    body = inner.replace("%s", HALF).encode()
    api = f"/plimsoll/api/v1/campaigns/{CAMPAIGN}"
    http.headers["Content-Type"] = "application/json"
    for answer in (http.post(f"{api}/runs", content=body), http.put(f"{api}/note", content=body)):
        assert answer.status_code == 422, answer.text
        assert answer.json()["problems"]


def test_the_address_without_a_slash_leads_to_the_campaigns(http: TestClient) -> None:
    answer = http.get("/plimsoll?state=running")
    assert (answer.status_code, answer.headers["location"]) == (307, "/plimsoll/?state=running")


def test_a_user_without_a_home_leaves_addresses_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/")
    document = ProblemDocument(title="t", status=400, detail="see https://example.org/a, and /srv/x")
    assert without_paths(document) == document


def test_problems_name_no_folder_of_the_server_and_use_plain_words(
    http: TestClient, installation: Installation
) -> None:
    stored = next(installation.folder.rglob(f"{CAMPAIGN}/definition.yaml"))
    stored.write_text(stored.read_text().replace("repeats: 1", "repeats: no"))
    api = "/plimsoll/api/v1"
    damaged = http.get(f"{api}/campaigns/{CAMPAIGN}")
    answers = {
        "damaged": damaged,
        "unknown": http.get(f"{api}/campaigns/none-such"),
        "misspelt": http.get(f"{api}/campaigns/Foo_Bar"),
        "few": http.get(f"{api}/definitions/demo/plan?parallel=0"),
        "odd": http.get(f"{api}/campaigns?state=odd"),
        "no JSON": http.put(f"{api}/campaigns/of-another/note", content=b"{"),
    }
    for text in (one.text for one in answers.values()):
        assert str(installation.folder) not in text
        for word in ("Input should", "String should", "pattern", "Extra inputs", "Field required", "pydantic", "^["):
            assert word not in text
    assert json.loads(damaged.text)["where"] == f"{CAMPAIGN}/definition.yaml"
    [few] = answers["few"].json()["problems"]
    assert (few["where"], few["what"]) == ("parallel", "must be at least 1; found '0'")
    [odd] = answers["odd"].json()["problems"]
    assert odd["what"] == "must be 'waiting', 'running', 'complete' or 'incomplete'; found 'odd'"
