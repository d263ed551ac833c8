"""What the pages show, and that nothing a user wrote becomes markup."""

import re
from datetime import timedelta
from urllib.parse import quote, urlencode, urljoin

import pytest
from tests.airflow.web.app import CAMPAIGN, DEFINITION, Client
from tests.airflow.web.markup import EVIL, Page, assert_harmless, page
from tests.fakes.installation import Installation
from tests.support.campaigns.stored import store_every_state, store_later_attempts

from plimsoll.domain.attempt.status import AttemptProgress
from plimsoll.domain.hosts.cost import HostRate, Tariff
from plimsoll.domain.keys.trigger import BegunBy
from plimsoll.report.tables import DOCS_OF_CAMPAIGN, docs_of_attempt
from plimsoll.services.definitions.reference import dump_definition, parse_definition
from plimsoll.services.steps.steps import step
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.web.library import library

HERE = f"/plimsoll/campaigns/{CAMPAIGN}"

pytestmark = pytest.mark.usefixtures("campaign")


def test_campaigns_are_listed_with_state_progress_and_validity(client: Client) -> None:
    shown = page(client, "/plimsoll/")

    assert f"{HERE}" in shown.attributes("a", "href")
    assert "2 of 6" in shown.text
    assert "1 met, 1 missed, 1 invalid, 1 failed, 1 running, 1 waiting" in shown.text
    assert "in this round" not in shown.text + page(client, HERE).text


def test_a_campaign_on_hosts_without_a_known_price_is_not_called_free(client: Client) -> None:
    assert ("free" in page(client, "/plimsoll/").text, "Cost so far" in page(client, HERE).text) == (True, False)
    unpriced = HostRate(kind="big", vcpus=8, usd_per_hour=None)
    layout.PRICES.write(library().store, CAMPAIGN, Tariff(node=unpriced, load=unpriced, source="none"), "v1-001k-r1", 1)
    library().forget(CAMPAIGN)

    shown = page(client, "/plimsoll/").text
    assert ("free" in shown, "unknown" in shown) == (False, True)
    assert "Cost so farunknown" in page(client, HERE).text
    assert client("viewer").get(f"/plimsoll/api/v1/campaigns/{CAMPAIGN}").json()["usd"] is None


def test_filters_leave_out_what_does_not_fit_and_say_so(client: Client) -> None:
    assert HERE not in page(client, "/plimsoll/?state=complete").attributes("a", "href")
    assert "None of the 1 campaign fits" in page(client, "/plimsoll/?text=nothing").text
    assert HERE in page(client, "/plimsoll/?text=MINE&state=running&definition=demo").attributes("a", "href")


def test_the_filter_form_can_be_sent_as_it_opens(client: Client) -> None:
    form = client("viewer").get("/plimsoll/").text.split('<form class="filters"')[1].split("</form>")[0]
    fields = {own["name"] or "": own.get("value") or "" for tag, own in Page(form).tags if tag in ("select", "input")}

    shown = page(client, f"/plimsoll/?{urlencode(fields)}")

    assert fields == {"state": "", "definition": "", "text": ""}
    assert HERE in shown.attributes("a", "href")


def test_each_square_says_in_words_what_its_colour_and_sign_say(client: Client) -> None:
    labels = page(client, HERE).attributes("a", "aria-label")

    assert any(
        re.match(r"v1-001k-r1: met; worst interval .* ms, 0\.\d+ times the bound; 0 of 1 ", one) for one in labels
    )
    assert any("v1-002k-r1: missed" in one for one in labels)
    assert any("v2-001k-r1: invalid; " in one and "node2 was down for 40 s" in one for one in labels)
    assert "v2-002k-r1: failed; attempt 1 of 1; cancelled by ada" in labels
    assert any(
        "v3-001k-r1: running; achieved 990 ops/s of 1,000 ops/s; load, 5 s of load left" in one for one in labels
    )
    assert "v3-002k-r1: waiting" in labels
    tips = page(client, HERE).attributes("a", "data-tip")
    purpose = f" Step load: {step('load').purpose}"
    assert any(one.startswith("v3-001k-r1: running") and one.endswith(purpose) for one in tips)
    assert [one for one in tips if "Step " in one and "running" not in one] == []


def test_a_phase_that_takes_longer_than_expected_says_so_wherever_time_left_is_shown(
    client: Client, campaign: Installation
) -> None:
    key = CampaignStore(campaign.toolkit.store, CAMPAIGN).key("v3-001k-r1", 1)
    begun = campaign.toolkit.clock.now() - timedelta(minutes=10)
    judging = AttemptProgress(phase="judge", at=begun, phases={"provision": begun, "judge": begun})
    layout.PROGRESS.write(campaign.toolkit.store, key, judging)
    library().forget(CAMPAIGN)

    words = re.compile(r"longer than expected, by \d+ min")
    [label] = [one for one in page(client, HERE).attributes("a", "aria-label") if one.startswith("v3-001k-r1")]
    assert words.search(label)
    for place in ("/plimsoll/", HERE, f"{HERE}/cells/v3-001k-r1"):
        assert words.search(page(client, place).text), place
    assert client("viewer").get(f"/plimsoll/api/v1/campaigns/{CAMPAIGN}").json()["seconds_over"] > 500


def test_a_campaign_that_is_expected_to_end_too_late_says_so_wherever_time_left_is_shown(
    client: Client, campaign: Installation
) -> None:
    assert "finish_by" not in client("viewer").get(f"/plimsoll/api/v1/campaigns/{CAMPAIGN}").json()
    copy = campaign.folder / "store" / layout.DEFINITION.key(CAMPAIGN)
    copy.write_text(f"{copy.read_text()}finish_by: 2020-01-01T18:00:00+00:00\n")
    library().forget(CAMPAIGN)

    found = client("viewer").get(f"/plimsoll/api/v1/campaigns/{CAMPAIGN}").json()
    assert (found["finish_by"], found["seconds_late"] > 1e6) == ("2020-01-01T18:00:00Z", True)
    late = re.compile(r"[\d,]+ h \d\d min late")
    assert late.search(page(client, HERE).text.partition("To finish by")[2])
    assert late.search(page(client, "/plimsoll/").text)


def test_a_cell_that_runs_again_shows_that_and_the_result_that_counts_meanwhile(
    client: Client, campaign: Installation
) -> None:
    store_later_attempts(
        campaign, CampaignStore(campaign.toolkit.store, CAMPAIGN), running="v1-002k-r1", cancelled="v1-001k-r1"
    )
    shown = page(client, HERE)
    (square,) = re.findall(r'<div class="square running again">.*?</div>', client("viewer").get(HERE).text, re.DOTALL)
    words = next(one for one in shown.attributes("a", "aria-label") if one.startswith("v1-002k-r1"))

    assert [text for text in Page(square).text.split("\n") if text] == ["▸load21 min 20 s left✗ 2.22×"]
    assert "runs again now, attempt 2: load, 1 min 20 s of load left; attempt 1 of 2" in words
    assert "; 1 runs again" in shown.text


def test_a_cancelled_attempt_leaves_its_trace_where_an_older_one_counts(client: Client, campaign: Installation) -> None:
    store_later_attempts(
        campaign, CampaignStore(campaign.toolkit.store, CAMPAIGN), running="v1-002k-r1", cancelled="v1-001k-r1"
    )
    labels = page(client, HERE).attributes("a", "aria-label")
    api = client("viewer").get(f"/plimsoll/api/v1/campaigns/{CAMPAIGN}/cells/v1-001k-r1").json()["status"]

    assert any(one.startswith("v1-001k-r1: met; ") and "attempt 2 failed: cancelled by ada" in one for one in labels)
    assert '<span class="also failed" aria-hidden="true">⊘ failed</span>' in client("viewer").get(HERE).text
    assert (api["state"], api["newest"], api["newest_reason"]) == ("met", "failed", "cancelled by ada")


def test_no_two_states_look_alike_without_colour(client: Client) -> None:
    squares = re.findall(r'class="sign" aria-hidden="true">(.)<', client("viewer").get(HERE).text)

    assert sorted(squares) == sorted("✓✗!⊘▸·")


def test_an_editor_can_select_cells(client: Client) -> None:
    boxes = [own for tag, own in page(client, HERE, "user").tags if tag == "input" and own.get("name") == "cell"]

    assert [box["value"] for box in boxes] == [f"v{variant}-00{load}k-r1" for variant in (1, 2, 3) for load in (1, 2)]


def test_the_live_part_is_sent_only_when_it_has_changed(client: Client, campaign: Installation) -> None:
    viewer = client("viewer")
    first = viewer.get(f"{HERE}/matrix")
    again = viewer.get(f"{HERE}/matrix", headers={"If-None-Match": first.headers["etag"]})

    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert client("user").get(f"{HERE}/matrix", headers={"If-None-Match": first.headers["etag"]}).status_code == 200


def test_the_live_part_is_the_same_compressed_and_not_and_within_its_page(client: Client) -> None:
    viewer = client("viewer")
    packed = viewer.get(f"{HERE}/matrix", headers={"Accept-Encoding": "gzip"})
    plain = viewer.get(f"{HERE}/matrix", headers={"Accept-Encoding": "identity"})

    assert (packed.headers["content-encoding"], plain.headers.get("content-encoding")) == ("gzip", None)
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"])
    assert packed.text == plain.text
    assert plain.text in viewer.get(HERE).text
    for name in ("content-type", "content-security-policy", "vary", "etag"):
        assert packed.headers[name] == plain.headers[name]


def test_no_page_leads_through_a_link_out_of_the_store(client: Client, campaign: Installation) -> None:
    secret = campaign.folder / "secret"
    secret.write_text("secret")
    attempt = campaign.folder / "store" / CAMPAIGN / "cells" / "v1-001k-r1" / "1"
    report = campaign.folder / "store" / CAMPAIGN / "report" / "report.html"
    report.parent.mkdir()
    for link in (attempt / "raw" / "load" / "key", attempt / "quality" / "index.html", report):
        link.unlink(missing_ok=True)
        link.symlink_to(secret)
    api, here = f"/plimsoll/api/v1/campaigns/{CAMPAIGN}", f"{HERE}/cells/v1-001k-r1"

    assert "raw/load/key" not in page(client, here).text
    for path in (
        f"{api}/cells/v1-001k-r1/attempts/1/files/raw/load/key",
        f"{here}/1/quality/index.html",
        f"{HERE}/report/page",
        f"{api}/report/report.html",
    ):
        assert client("viewer").get(path).status_code == 404, path


def test_data_docs_are_shown_in_a_sandbox(client: Client) -> None:
    answer = client("viewer").get(f"{HERE}/cells/v1-001k-r1/1/quality/index.html")

    assert answer.text == "<!DOCTYPE html><title>Data Docs</title>"
    assert answer.headers["content-security-policy"].endswith("; sandbox")


def test_the_report_runs_its_scripts_in_an_origin_of_its_own(client: Client, campaign: Installation) -> None:
    campaign.toolkit.store.write(f"{layout.REPORT_FILES.folder(CAMPAIGN)}/report.html", b"<h1>Report</h1>")

    shown, answer = page(client, f"{HERE}/report"), client("viewer").get(f"{HERE}/report/page")

    assert shown.attributes("iframe", "sandbox") == ["allow-scripts allow-popups"]
    assert answer.headers["content-security-policy"].endswith("; sandbox allow-scripts allow-popups")
    assert "report.html" in shown.text


def test_the_reports_links_to_data_docs_lead_where_the_pages_have_them(client: Client, campaign: Installation) -> None:
    store = campaign.toolkit.store
    verdict = layout.VERDICT.read(store, CampaignStore(store, CAMPAIGN).key("v1-001k-r1", 1))
    assert verdict
    store.write(f"{layout.DATA_DOCS.folder(CAMPAIGN)}/index.html", b"<title>Of all</title>")
    store.write(f"{layout.REPORT_FILES.folder(CAMPAIGN)}/report.html", b"<h1>Report</h1>")

    found = {
        link: client("viewer").get(urljoin(f"{HERE}/report/page", link))
        for link in (DOCS_OF_CAMPAIGN, str(docs_of_attempt(verdict)))
    }

    of_attempt = "<!DOCTYPE html><title>Data Docs</title>"
    assert [answer.text for answer in found.values()] == ["<title>Of all</title>", of_attempt]
    assert page(client, f"{HERE}/report").attributes("a", "href").count(f"{HERE}/quality/index.html") == 1


def test_capacities_are_told_before_the_report_is_published(client: Client) -> None:
    assert "1,000 ops/s" in page(client, f"{HERE}/report").text


def test_what_people_wrote_is_text_everywhere(client: Client, campaign: Installation) -> None:
    variants = [one.model_copy(update={"title": EVIL}) for one in DEFINITION.variants]
    definition = DEFINITION.model_copy(update={"title": EVIL, "variants": tuple(variants)})
    evil = store_every_state(campaign, definition, "evil")
    campaign.toolkit.store.write(layout.attempt_file(evil.key("v1-001k-r1", 1), f"raw/{EVIL.replace('/', '-')}"), b"")
    there = "/plimsoll/campaigns/evil"

    paths = (f"/plimsoll/?text={EVIL}", there, f"{there}?started={EVIL}", f"{there}/matrix", f"{there}/report")
    for path in (*paths, f"{there}/cells/v1-001k-r1", f"{there}/cells/v2-001k-r1"):
        shown = page(client, path, "user")
        assert "alert(1)" in shown.text or path.startswith(f"{there}/cells"), path
        assert_harmless(shown)


def test_pages_need_nothing_from_elsewhere(client: Client) -> None:
    for path in ("/plimsoll/", HERE, f"{HERE}/cells/v1-001k-r1", f"{HERE}/report"):
        shown = page(client, path)
        for tag, name in (("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src")):
            assert all(value.startswith("/plimsoll/") for value in shown.attributes(tag, name)), path
        assert not shown.attributes("div", "style")


def test_an_error_is_a_page_for_people(client: Client) -> None:
    answer = client("viewer", Accept="text/html").get("/plimsoll/campaigns/other")

    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "there is no campaign &#39;other&#39;" in answer.text
    assert "To mend it" in answer.text


def test_a_bad_id_of_a_campaign_is_one_problem(client: Client) -> None:
    answer = client("viewer").get("/plimsoll/campaigns/None")

    assert answer.status_code == 422
    assert [one["where"] for one in answer.json()["problems"]] == ["campaign_id"]


def test_a_stranger_is_shown_the_way_to_log_in(client: Client) -> None:
    answer = client(Accept="text/html").get(HERE)

    assert answer.status_code == 401
    assert f"/api/v2/auth/login?next={quote(HERE, safe='')}" in answer.text


@pytest.mark.parametrize("started", ["demo/runs/none", "cell/runs/demo-mine__v1-001k-r1", "you won a prize", EVIL])
def test_a_run_that_there_is_not_is_not_told_of(client: Client, started: str) -> None:
    assert "Asked for" not in page(client, f"{HERE}?started={quote(started)}").text


@pytest.mark.parametrize("what", ["cancel", "destroy"])
def test_what_would_end_is_named_before_it_is_ended(client: Client, what: str) -> None:
    question = client("user").get(f"{HERE}/{what}").text

    assert "<code>v3-001k-r1</code>, attempt 1: load, 5 s of load left" in question
    assert f'method="post" action="{HERE}/{what}"' in question
    assert "<button" not in client("viewer").get(f"{HERE}/{what}").text


def test_a_campaigns_own_values_and_the_event_that_began_it_are_shown(client: Client, campaign: Installation) -> None:
    began = campaign.toolkit.clock.now()
    text = f"""{dump_definition(DEFINITION)}
parameters:
  release: {{type: text, default: 4.0.1}}
trigger: {{asset: releases}}
""".replace("title: An instant campaign", "title: Release $(release)")
    event = BegunBy(asset="releases", at=began, values={"release": "4.0.1"})
    CampaignStore(campaign.toolkit.store, "nightly-1").open(parse_definition(text, "nightly.yaml"), event)

    shown = page(client, "/plimsoll/campaigns/nightly-1").text

    assert "Parameters: release 4.0.1" in shown
    assert f"It was begun by an event of releases, {began:%Y-%m-%d %H:%M:%S} UTC." in shown
