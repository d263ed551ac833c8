"""The page of a campaign's note and deletion, and the same by the API."""

import pytest
from tests.airflow.web.app import CAMPAIGN, Client, audited
from tests.fakes.installation import Installation

from plimsoll.domain.text.errors import StoreError
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.listing import campaign_exists
from plimsoll_airflow.web.library import library

PAGE, API = f"/plimsoll/campaigns/{CAMPAIGN}", f"/plimsoll/api/v1/campaigns/{CAMPAIGN}"


@pytest.fixture
def quiet(campaign: Installation) -> Installation:
    """Provide the campaign when nothing of it runs any more."""
    store = campaign.toolkit.store
    for cell in CampaignStore(store, CAMPAIGN).cells_with_attempts():
        if not store.exists(f"{CAMPAIGN}/cells/{cell}/1/verdict.json"):
            store.delete(f"{CAMPAIGN}/cells/{cell}")
    library().forget(CAMPAIGN)
    return campaign


def test_a_note_is_escaped_on_the_page_and_in_the_list(client: Client, quiet: Installation) -> None:
    answer = client("admin").put(f"{API}/note", json={"text": "two <b>racks</b>"})

    assert (answer.status_code, answer.json()["by"]) == (200, "the admin")
    for place in (PAGE, f"{PAGE}/manage", "/plimsoll/"):
        assert "two &lt;b&gt;racks&lt;/b&gt;" in client("admin").get(place).text
    assert client("admin").get(API).json()["note"] == "two <b>racks</b>"
    assert client("admin").put(f"{API}/note", json={"text": ""}).json() is None


def test_readers_may_neither_annotate_nor_delete(client: Client, quiet: Installation) -> None:
    reader = client("viewer")
    for answer in (
        reader.put(f"{API}/note", json={"text": "no"}),
        reader.delete(API, params={"confirm": CAMPAIGN}),
        reader.post(f"{PAGE}/delete", data={"confirm": CAMPAIGN}),
    ):
        assert answer.status_code == 403
    page = reader.get(f"{PAGE}/manage")
    assert (page.status_code, "<form" in page.text) == (200, False)
    assert campaign_exists(quiet.toolkit.store, CAMPAIGN)


@pytest.mark.parametrize("confirm", ["", "demo"])
def test_a_deletion_is_asked_for_twice(client: Client, quiet: Installation, confirm: str) -> None:
    assert client("admin").delete(API, params={"confirm": confirm}).status_code == 400
    assert client("admin").post(f"{PAGE}/delete", data={"confirm": confirm}).status_code == 400
    assert campaign_exists(quiet.toolkit.store, CAMPAIGN)


def test_a_deleted_campaign_is_gone_from_everywhere_but_the_audit_logs(client: Client, quiet: Installation) -> None:
    page = client("admin").get(f"{PAGE}/manage").text
    assert "Nothing of it can be had again" in page
    before = audited("plimsoll.delete")

    answer = client("admin").delete(API, params={"confirm": CAMPAIGN})

    assert (answer.status_code, answer.json()["by"]) == (200, "the admin")
    assert list(quiet.toolkit.store.keys(CAMPAIGN)) == []
    assert len(list(quiet.toolkit.store.keys(".deleted"))) == 1
    assert client("admin").get(API).status_code == 404
    assert CAMPAIGN not in client("admin").get("/plimsoll/").text
    [(who, what)] = audited("plimsoll.delete")[len(before) :]
    assert (who, CAMPAIGN in what) == ("the admin", True)


@pytest.mark.parametrize("by_page", [True, False], ids=["page", "api"])
def test_a_deletion_that_was_interrupted_is_finished(
    client: Client, quiet: Installation, monkeypatch: pytest.MonkeyPatch, by_page: bool
) -> None:
    store = quiet.toolkit.store
    with monkeypatch.context() as interrupted:
        whole = type(store).delete

        def dies(self: object, prefix: str) -> None:
            if prefix == f"{CAMPAIGN}/cells":
                whole(self, f"{prefix}/v1-001k-r1/1/verdict.json")  # type: ignore[arg-type]
                raise StoreError("the store is away")
            whole(self, prefix)  # type: ignore[arg-type]

        interrupted.setattr(type(store), "delete", dies)
        assert client("admin").delete(API, params={"confirm": CAMPAIGN}).status_code >= 500

    assert "deletion, begun by the admin" in client("admin").get(PAGE).text
    assert "Delete what is left" in client("admin").get(f"{PAGE}/manage").text
    assert client("viewer").post(f"{PAGE}/delete", data={"confirm": CAMPAIGN}).status_code == 403
    if by_page:
        client("admin").post(f"{PAGE}/delete", data={"confirm": CAMPAIGN})
    else:
        assert client("admin").delete(API, params={"confirm": CAMPAIGN}).status_code == 200
    assert list(store.keys(CAMPAIGN)) == []


def test_a_campaign_of_which_something_runs_is_kept_and_its_page_says_what(
    client: Client, campaign: Installation
) -> None:
    answer = client("admin").delete(API, params={"confirm": CAMPAIGN})

    assert answer.status_code == 400
    assert "is being run by" in answer.text
    assert "is being run by" in client("admin").get(f"{PAGE}/manage").text
    assert campaign_exists(campaign.toolkit.store, CAMPAIGN)
