"""Every route asked without a token, with a viewer's and with an editor's; forged requests; headers."""

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from warnings import catch_warnings

import pytest
from airflow.api_fastapi.auth.managers.models.resource_details import DagDetails
from fastapi import FastAPI
from fastapi.routing import APIRoute
from tests.airflow.web.app import CAMPAIGN, Client, token_of

from plimsoll_airflow.plugin import LazyApp
from plimsoll_airflow.web.app import create_app

API = "/plimsoll/api/v1"
FILLED = {
    "campaign_id": CAMPAIGN,
    "cell_id": "v1-001k-r1",
    "attempt": "1",
    "part": "kv",
    "name": "demo",
    "name:path": "raw/load/load.hdr",
}

pytestmark = pytest.mark.usefixtures("campaign")


def routes(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Yield method and path of every route, with its parameters filled in."""
    for route in app.routes:
        assert isinstance(route, APIRoute), f"{route} is no route that the app's own dependencies guard"
        path = re.sub(r"{([^}]+)}", lambda match: FILLED[match[1]], route.path)
        yield from ((method, f"/plimsoll{path}") for method in sorted(route.methods))


ROUTES = sorted(set(routes(create_app())))
CHANGES = [(method, path) for method, path in ROUTES if method != "GET"]


def test_there_are_routes_of_both_kinds() -> None:
    assert len(ROUTES) > 20
    assert {path.rpartition("/")[2] for _, path in CHANGES} == {
        "runs",
        "again",
        "cancel",
        "destroy",
        "report",
        "note",
        "delete",
        "accept",
        "baseline",
        CAMPAIGN,
    }


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_stranger_gets_nothing(client: Client, method: str, path: str) -> None:
    answer = client().request(method, path)

    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["www-authenticate"] == "Bearer"
    assert (answer.json()["detail"], "log in" in answer.json()["mend"]) == ("nobody is logged in", True)


@pytest.mark.parametrize("sort", ["false", "expired"])
@pytest.mark.parametrize("browser", [False, True])
@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_token_that_is_false_or_has_expired_gets_nothing(
    client: Client, method: str, path: str, *, browser: bool, sort: str
) -> None:
    token = "eyJhbGciOiJub25lIn0.e30." if sort == "false" else token_of("user", lifetime_s=-60)
    sent = {"Cookie": f"_token={token}"} if browser else {"Authorization": f"Bearer {token}"}

    answer = client(**sent).request(method, path)

    assert (answer.status_code, answer.json()["detail"]) == (401, "the login or token has expired, or is not valid")
    assert "log in" in answer.json()["mend"]
    assert answer.headers["www-authenticate"] == ("Bearer" if browser else 'Bearer error="invalid_token"')


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_user_without_a_role_gets_nothing(client: Client, method: str, path: str) -> None:
    from airflow.api_fastapi.app import get_auth_manager
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser

    token = get_auth_manager().generate_jwt(SimpleAuthManagerUser(username="nobody", role=None))

    assert client(Authorization=f"Bearer {token}").request(method, path).status_code == 403


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_viewer_reads_and_changes_nothing(client: Client, method: str, path: str) -> None:
    answer = client("viewer").request(method, path)

    if method == "GET":
        assert answer.status_code in (200, 303, 404, 422), answer.text
    else:
        assert answer.status_code == 403
        assert "trigger DAGs" in answer.json()["detail"]
        assert "ask an administrator" in answer.json()["mend"]


@pytest.mark.parametrize(("method", "path"), CHANGES)
def test_an_editor_may_change_what_there_is(client: Client, method: str, path: str) -> None:
    answer = client("user").request(method, path, json={"cells": "failed"} if path.endswith("runs") else None)

    assert answer.status_code not in (401, 403), answer.text


@pytest.mark.parametrize(("method", "path"), CHANGES)
@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "origin": "http://airflow.test"},
        {"origin": "http://evil.test"},
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "same-origin", "x-plimsoll-token": "guessed"},
        {"authorization": "Bearer "},
        {"authorization": "Bearer"},
        {"authorization": "bearer   "},
        {"authorization": "Bearer\t"},
        {"authorization": "Basic dXNlcjpwYXNz"},
        {"authorization": "Token bearer x"},
        {"sec-fetch-site": "same-origin", "authorization": "Bearer "},
    ],
)
def test_a_forged_request_of_an_editors_browser_changes_nothing(
    client: Client, method: str, path: str, sent: dict[str, str]
) -> None:
    answer = client("user", browser=True, **sent).request(method, path)

    assert answer.status_code == 403
    mend = "load the page again" if sent.get("sec-fetch-site") == "same-origin" else "on Plimsoll's own page"
    assert mend in answer.json()["mend"]


def test_a_page_of_ours_lets_the_editors_browser_change_things(client: Client) -> None:
    browser = client("user", browser=True, **{"sec-fetch-site": "same-origin"})
    page = browser.get(f"/plimsoll/campaigns/{CAMPAIGN}").text
    token = re.search(r'name="token" value="([^"]+)"', page)
    assert token

    assert browser.post(f"/plimsoll/campaigns/{CAMPAIGN}/cancel", data={"token": token[1]}).status_code == 303


def test_the_token_of_another_users_page_does_not(client: Client) -> None:
    page = client("admin", browser=True).get(f"/plimsoll/campaigns/{CAMPAIGN}").text
    token = re.search(r'name="token" value="([^"]+)"', page)
    assert token
    browser = client("user", browser=True, **{"sec-fetch-site": "same-origin"})

    assert browser.post(f"/plimsoll/campaigns/{CAMPAIGN}/cancel", data={"token": token[1]}).status_code == 403


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_answer_forbids_the_browser_what_we_do_not_ask_for(client: Client, method: str, path: str) -> None:
    for role in (None, "viewer"):
        headers = client(role).request(method, path).headers

        assert headers["x-content-type-options"] == "nosniff"
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors" in policy
        assert "unsafe" not in policy or "sandbox" in policy
        assert "allow-same-origin" not in policy
        assert "http" not in policy


def test_what_a_viewer_sees_offers_nothing_to_change(client: Client) -> None:
    page = client("viewer").get(f"/plimsoll/campaigns/{CAMPAIGN}").text

    assert "Run selected" not in page
    assert "Cancel" not in page
    assert "checkbox" not in page
    assert "Destroy" not in page


def test_other_processes_do_not_make_the_app() -> None:
    assert "app" not in vars(LazyApp())


@pytest.mark.parametrize(
    "path",
    [
        f"{API}/definitions/demo/plan",
        f"{API}/campaigns/{CAMPAIGN}",
        f"{API}/compare?a={CAMPAIGN}&b={CAMPAIGN}",
        f"/plimsoll/compare?a={CAMPAIGN}&b={CAMPAIGN}",
    ],
)
def test_nothing_is_told_of_a_dag_that_is_not_for_the_user(
    client: Client, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    from airflow.api_fastapi.app import get_auth_manager

    def is_authorized(*, details: DagDetails | None = None, **_: Any) -> bool:
        return details is None or details.id != "demo"

    monkeypatch.setattr(get_auth_manager(), "is_authorized_dag", is_authorized)
    viewer = client("viewer")

    assert viewer.get(f"{API}/definitions").json() == []
    assert CAMPAIGN not in viewer.get("/plimsoll/compare").text
    assert viewer.get(path).status_code in (403, 404)


DEMO = [("can_read", "DAG:demo"), ("can_read", "DAG Runs")]
EDITS_DEMO = [*DEMO, ("can_edit", "DAG:demo"), ("can_create", "DAG Runs")]
EDITS_ALL_THREE = [*EDITS_DEMO, ("can_edit", "DAG:cell"), ("can_edit", "DAG:reaper")]


@pytest.mark.parametrize(
    ("permissions", "sees", "changes"),
    [
        ([], 403, 403),
        ([("can_read", "DAG Runs")], 403, 403),
        ([("can_read", "DAG:other"), ("can_read", "DAG Runs")], 403, 403),
        (DEMO, 200, 403),
        (EDITS_DEMO, 200, 403),
        (EDITS_ALL_THREE, 200, 400),
    ],
)
def test_rights_by_dag_of_a_teams_auth_manager_hold(
    client: Client, monkeypatch: pytest.MonkeyPatch, permissions: list[tuple[str, str]], sees: int, changes: int
) -> None:
    """The permissions are those of the FAB provider's roles, and its own auth manager decides."""
    from airflow.api_fastapi.app import get_auth_manager

    with catch_warnings(action="ignore"):  # of the provider, about Starlette
        from airflow.providers.fab.auth_manager.fab_auth_manager import FabAuthManager

    of_team: Any = FabAuthManager
    has_permissions = SimpleNamespace(perms=permissions)

    def is_authorized(*, user: Any, **request: Any) -> bool:
        allowed: bool = of_team().is_authorized_dag(user=has_permissions, **request)
        return allowed

    monkeypatch.setattr(get_auth_manager(), "is_authorized_dag", is_authorized)
    user = client("viewer")

    assert user.get(f"{API}/campaigns/{CAMPAIGN}").status_code == sees
    assert user.post(f"{API}/campaigns/{CAMPAIGN}/runs", json={"cells": "zgc-*"}).status_code == changes
    listed = user.get(f"{API}/campaigns")
    assert [one["campaign_id"] for one in (listed.json() if listed.is_success else [])] == [CAMPAIGN] * (sees == 200)
