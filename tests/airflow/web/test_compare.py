"""Two campaigns side by side, as page and as JSON."""

from urllib.parse import urlencode

import pytest
from tests.airflow.web.app import CAMPAIGN, DEFINITION, Client
from tests.airflow.web.markup import EVIL, Page, assert_harmless, page
from tests.fakes.installation import Installation
from tests.support.campaigns.stored import store_every_state

from plimsoll.domain.keys.workload import NamedWorkload

API, PAGE = "/plimsoll/api/v1/compare", "/plimsoll/compare"
LATER, READING, OTHER_IDS = "demo-later", "demo-reading", "demo-other-ids"
BOTH = f"?a={CAMPAIGN}&b={LATER}"
UNLIKE = f"?a={CAMPAIGN}&b={READING}"


@pytest.fixture(autouse=True)
def campaigns(campaign: Installation) -> None:
    """Provide a campaign that differs in its seed alone, one of another workload, one whose variants have other ids."""
    workload = DEFINITION.workload.model_copy(update={"read_share": 0.5})
    renamed = tuple(one.model_copy(update={"id": f"w{one.id[1:]}"}) for one in DEFINITION.variants)
    for campaign_id, changes in (
        (LATER, {"seed": 7}),
        (READING, {"workload": workload}),
        (OTHER_IDS, {"variants": renamed}),
    ):
        store_every_state(campaign, DEFINITION.model_copy(update=changes), campaign_id)


@pytest.mark.parametrize("path", [API, PAGE])
def test_a_stranger_gets_nothing_viewer_and_editor_see_both(client: Client, path: str) -> None:
    assert client().get(path + BOTH).status_code == 401
    for role in ("viewer", "user"):
        answer = client(role).get(path + BOTH)
        assert answer.status_code == 200
        assert LATER in answer.text


def test_environments_come_first_then_capacity_then_maxima(client: Client) -> None:
    shown = page(client, PAGE + BOTH)

    parts = ["No difference of the environments", "Capacity", "v1: maxima", "2,000 ops/s"]
    places = [shown.text.index(part) for part in parts]
    assert places == sorted(places)
    assert "v1: A carries 1,000 ops/s, B carries 1,000 ops/s (1× of A)" in shown.text
    assert shown.text.count("no load has two valid repeats of both") == 1
    links = shown.attributes("a", "href")
    assert {f"/plimsoll/campaigns/{CAMPAIGN}", f"/plimsoll/campaigns/{LATER}"} <= set(links)


def test_the_json_is_that_of_the_command_line(client: Client) -> None:
    found = client("viewer").get(API + BOTH).json()

    assert (found["format"], found["a"]["campaign_id"], found["b"]["campaign_id"]) == (1, CAMPAIGN, LATER)
    assert found["capacity"][0]["ratio"] == 1.0
    assert found["incomparable"] == []


def test_what_is_not_comparable_is_shown_with_what_to_do(client: Client) -> None:
    answer = client("viewer", Accept="text/html").get(PAGE + UNLIKE)
    shown = Page(answer.text)
    (forced,) = [link for link in shown.attributes("a", "href") if "force=true" in link]

    assert answer.status_code == 400
    assert "workload.read_share: 0.2 in A, 0.5 in B" in shown.text
    assert "Capacity" not in shown.text
    all_the_same = page(client, forced)
    assert "Not comparable, compared by force" in all_the_same.text
    assert "Capacity" in all_the_same.text


def test_what_is_not_comparable_is_a_problem_document_and_by_force_named(client: Client) -> None:
    viewer = client("viewer")
    refused = viewer.get(API + UNLIKE)
    (problem,) = refused.json()["problems"]

    assert (refused.status_code, refused.headers["content-type"]) == (400, "application/problem+json")
    assert (problem["where"], problem["what"]) == ("workload.read_share", "0.2 in A, 0.5 in B")
    assert "force=true" in problem["mend"]
    named = viewer.get(f"{API}{UNLIKE}&force=true").json()["incomparable"]
    assert named == [{"what": "workload.read_share", "a": "0.2", "b": "0.5"}]


@pytest.mark.parametrize(("pair", "pairs"), [("v1=w1", ["v1"]), ("v1=w1, v2=w3", ["v1", "v2"])])
def test_variants_of_other_ids_are_compared_in_pairs(client: Client, pair: str, pairs: list[str]) -> None:
    query = {"a": CAMPAIGN, "b": OTHER_IDS, "pair": pair}

    found = client("viewer").get(API, params=query).json()

    assert [one["variants"]["a"] for one in found["capacity"]] == pairs
    assert "v1 / w1: maxima" in page(client, f"{PAGE}?{urlencode(query)}").text


def test_no_variant_in_common_is_told_even_by_force(client: Client) -> None:
    answer = client("viewer").get(API, params={"a": CAMPAIGN, "b": OTHER_IDS, "force": True})

    assert answer.status_code == 400
    assert "`pair=" in answer.json()["problems"][0]["mend"]


@pytest.mark.parametrize(
    ("query", "status"),
    [("?a=demo-mine&b=other", 404), ("?a=demo-mine&b=..", 422), ("?a=demo-mine&b=demo-later&pair=v1", 422)],
)
def test_what_is_no_campaign_and_no_pair_is_refused(client: Client, query: str, status: int) -> None:
    for path in (API, PAGE):
        assert client("viewer").get(path + query).status_code == status


def test_two_are_chosen_from_the_list_or_from_one_of_them(client: Client) -> None:
    chosen = page(client, f"{PAGE}?b={LATER}")
    selected = [own for tag, own in chosen.tags if tag == "option" and "selected" in own]

    assert "Choose two campaigns" in chosen.text
    assert len(selected) == 1
    assert PAGE in page(client, "/plimsoll/").attributes("form", "action")
    assert f"{PAGE}?b={LATER}" in page(client, f"/plimsoll/campaigns/{LATER}").attributes("a", "href")


def test_what_people_wrote_is_text(client: Client, campaign: Installation) -> None:
    variants = [one.model_copy(update={"title": EVIL}) for one in DEFINITION.variants]
    definition = DEFINITION.model_copy(update={"title": EVIL, "variants": tuple(variants)})
    store_every_state(campaign, definition, "evil")

    shown = page(client, f"{PAGE}?a=evil&b={CAMPAIGN}")

    assert "alert(1)" in shown.text
    assert_harmless(shown)


def test_campaigns_of_several_workloads_are_compared_one_by_one(client: Client, campaign: Installation) -> None:
    kv, series, tabular = (NamedWorkload.model_validate({"id": name}) for name in ("kv", "series", "tabular"))
    for campaign_id, workloads in (("two-parts", (kv, series)), ("other-parts", (tabular, kv))):
        store_every_state(campaign, DEFINITION.model_copy(update={"workloads": workloads}), campaign_id)
    query = "?a=two-parts&b=other-parts"

    found = client("viewer").get(API + query).json()
    shown = page(client, PAGE + query)

    assert [one["workload"] for one in found["parts"]] == ["kv"]
    assert (found["a"]["only"], found["b"]["only"]) == (["series"], ["tabular"])
    assert "Only in A, not compared: series" in shown.text
    assert "kv: Capacity" in shown.text
    assert "kv: v1: maxima" in shown.text


def test_a_variant_of_a_that_is_paired_twice_is_refused(client: Client, campaign: Installation) -> None:
    renamed = tuple(one.model_copy(update={"id": f"w{one.id[1:]}"}) for one in DEFINITION.variants)
    store_every_state(campaign, DEFINITION.model_copy(update={"variants": renamed}), "demo-others")
    query = {"a": CAMPAIGN, "b": "demo-others", "pair": "v1=w1 v1=w2"}
    answer = client("viewer").get("/plimsoll/api/v1/compare", params=query)
    assert answer.status_code == 400
    assert answer.json()["problems"][0]["what"] == "names the same variant of A twice"
