"""The trend over twelve campaigns, of which one variant becomes slower after the seventh: as page and as JSON."""

import re
import shutil
from html import unescape
from threading import Semaphore
from urllib.parse import urlencode

import pytest
from tests.airflow.web.app import Client
from tests.airflow.web.markup import page
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.stored import store_campaign
from tests.support.campaigns.synthetic import Plan

from plimsoll_airflow.plugin import PlimsollPlugin
from plimsoll_airflow.runs.ownership import REAPER_DAG
from plimsoll_airflow.web import access, made_trends
from plimsoll_airflow.web.library import library
from plimsoll_airflow.web.trend import MOST_DEFINITIONS

API, PAGE = "/plimsoll/api/v1/trend", "/plimsoll/trend"
NIGHTLY = instant_definition("nightly", variants=2, loads=1, repeats=1)
OTHER = instant_definition("other", variants=1, loads=1, repeats=1)
CAMPAIGNS, STEP = 12, 7


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    made = Installation(tmp_path_factory.mktemp("followed"))
    tools = made.toolkit
    for number in range(1, CAMPAIGNS + 1):
        slower = {"v1-001k-r1": 4.0} if number > STEP else {}
        plan = Plan({"v1": 1000, "v2": 1000}, seed=number, slow_cells=slower)
        store_campaign(tools.store, NIGHTLY, f"nightly-{number:02}", plan, tools.clock.now())
    store_campaign(tools.store, OTHER, "other-mine", Plan({"v1": 1000}), tools.clock.now())
    return made


@pytest.fixture(autouse=True)
def campaigns(installation: Installation, followed: Installation) -> None:
    shutil.copytree(followed.folder, installation.folder, dirs_exist_ok=True)


@pytest.mark.parametrize("path", [API, PAGE, f"{PAGE}/page"])
def test_a_stranger_gets_nothing_a_viewer_sees_the_trend(client: Client, path: str) -> None:
    assert client().get(f"{path}?name=nightly").status_code == 401
    answer = client("viewer").get(f"{path}?name=nightly")
    assert answer.status_code == 200
    assert "nightly-08" in answer.text


def test_the_json_names_the_planted_change_and_no_other(client: Client) -> None:
    found = client("viewer").get(f"{API}?name=nightly").json()

    assert [(one["variant"], one["campaign_id"]) for one in found["changes"]] == [("v1", "nightly-08")]
    assert len(found["campaigns"]) == CAMPAIGNS


def test_the_page_says_what_changed_and_shows_the_charts_in_a_frame(client: Client) -> None:
    shown = page(client, f"{PAGE}?name=nightly&by=date")

    assert "v1 at 1,000 ops/s: worst interval rose by" in shown.text
    assert "/plimsoll/campaigns/nightly-08" in shown.attributes("a", "href")
    [frame] = shown.attributes("iframe", "src")
    charts = client("viewer").get(frame)
    assert "sandbox" in charts.headers["content-security-policy"]
    assert "Trend of nightly" in charts.text


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "Choose a definition"),
        ("?name=&name=&by=date", "Choose a definition"),
        ("?dag_id=cell", "There is no campaign of cell yet"),
        ("?dag_id=nightly", "Trend of nightly"),
        ("?name=nightly&name=other", "Trend of nightly and other"),
        ("?name=nightly&by=label", "it has no label"),
    ],
)
def test_the_form_as_it_opens_and_what_links_ask_for(client: Client, query: str, words: str) -> None:
    assert words in page(client, f"{PAGE}{query}").text


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("?name=nighty", 404, "did you mean 'nightly'?"),
        ("?name=nightly&by=size", 422, "by"),
        ("?name=..%2Fetc", 422, "name"),
        ("?" + urlencode([("name", f"d{number}") for number in range(21)]), 422, "name"),
    ],
)
def test_what_can_not_be_shown_is_said(client: Client, query: str, status: int, words: str) -> None:
    for path in (API, PAGE):
        answer = client("viewer").get(f"{path}{query}")
        assert (answer.status_code, words in unescape(answer.text)) == (status, True)


def test_a_trend_is_computed_again_once_a_campaign_came(client: Client, installation: Installation) -> None:
    before = client("viewer").get(f"{API}?name=other").json()
    tools = installation.toolkit
    store_campaign(tools.store, OTHER, "other-later", Plan({"v1": 1000}, seed=2), tools.clock.now())
    after = client("viewer").get(f"{API}?name=other").json()

    assert [len(found["campaigns"]) for found in (before, after)] == [1, 2]


def test_a_change_is_accepted_on_the_page_and_that_taken_back_again(client: Client) -> None:
    def accept(**fields: str) -> str:
        editor = client("user", browser=True, **{"Sec-Fetch-Site": "same-origin"})
        token = page(client, f"{PAGE}?name=nightly", "user").attributes("input", "value")[0]
        answer = editor.post(f"{PAGE}/accept?name=nightly&by=date", data={"token": token, **fields})
        assert answer.status_code == 303, answer.text
        return str(client("user").get(answer.headers["location"]).text)

    assert re.search(
        "accepted by the user on [0-9-]+: the new disk", accept(change="nightly-08/v1", why="the new disk")
    )
    assert "accepted by" not in accept(change="nightly-08/v1")


def test_a_baseline_that_is_gone_is_taken_back_on_the_page(client: Client, installation: Installation) -> None:
    client("user").post(f"{API}/baseline?name=nightly", json={"campaign_id": "nightly-08", "why": "new hosts"})
    shutil.rmtree(installation.folder / "store" / "nightly-08")
    library().forget("nightly-08")
    shown = page(client, f"{PAGE}?name=nightly", "user")
    assert "nightly-08: it is a baseline and not there" in shown.text
    assert "Take back" in shown.text.partition("Left out")[2]

    editor = client("user", browser=True, **{"Sec-Fetch-Site": "same-origin"})
    fields = {"token": shown.attributes("input", "value")[0], "campaign_id": "nightly-08"}
    assert editor.post(f"{PAGE}/baseline?name=nightly&by=date", data=fields).status_code == 303
    assert "it is a baseline" not in page(client, f"{PAGE}?name=nightly", "user").text


def test_marks_by_rest_and_who_may_set_them(client: Client) -> None:
    body = {"campaign_id": "nightly-08", "why": "new hosts"}
    assert client("viewer").post(f"{API}/baseline?name=nightly", json=body).status_code == 403

    found = client("user").post(f"{API}/baseline?name=nightly", json=body).json()

    assert found["changes"] == []
    [marked] = (one["baseline"] for one in found["campaigns"] if "baseline" in one)
    assert (marked["text"], marked["by"]) == ("new hosts", "the user")
    wrong = client("user").post(f"{API}/accept?name=nightly", json={"change": "nightly-03", "why": "no"})
    assert (wrong.status_code, "is not in the trend" in wrong.text) == (400, True)


def test_who_may_change_a_dags_campaigns_alone_may_mark_its_trend(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "is_allowed", lambda _user, dag_id, changes: not (changes and dag_id == REAPER_DAG))
    body = {"change": "nightly-08", "why": "the new disk"}
    assert client("user").post(f"{API}/accept?name=nightly", json=body).status_code == 403


def test_few_trends_are_computed_at_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made_trends, "_at_work", Semaphore(0))
    answer = client("viewer").get(f"{API}?name=nightly&name=other&by=version")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "20")


def test_every_dag_has_a_tab_that_leads_there() -> None:
    [tab] = (view for view in PlimsollPlugin.external_views if view["destination"] == "dag")
    assert tab["href"] == "/plimsoll/trend?dag_id={DAG_ID}"


def test_the_form_of_as_many_definitions_as_may_be_chosen_can_be_sent_as_it_opens(
    client: Client, installation: Installation
) -> None:
    tools, names = installation.toolkit, [f"many-{number:02}" for number in range(MOST_DEFINITIONS + 1)]
    for name in names:
        own = instant_definition("demo", variants=1, loads=1).model_copy(update={"name": name})
        store_campaign(tools.store, own, f"{name}-x", Plan({"v1": 1000}), tools.clock.now())
    chosen = names[:MOST_DEFINITIONS]
    shown = page(client, f"/plimsoll/trend?{urlencode([('name', name) for name in chosen])}")
    fields = shown.attributes("select", "name").count("name")
    sent = [*chosen, *[""] * (fields - len(chosen))]
    page(client, f"/plimsoll/trend?{urlencode([('name', name) for name in sent])}")
