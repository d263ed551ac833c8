"""Pages and JSON of a campaign with several workloads, and of a ramp."""

import pytest
from tests.airflow.web.app import DEFINITION, Client
from tests.airflow.web.markup import page
from tests.fakes.installation import Installation
from tests.support.campaigns.stored import store_every_state

from plimsoll.domain.keys.workload import NamedWorkload
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore

MIXED = "demo-mixed"
HERE = f"/plimsoll/campaigns/{MIXED}"
API = f"/plimsoll/api/v1/campaigns/{MIXED}"


@pytest.fixture
def mixed(installation: Installation) -> Installation:
    workloads = tuple(NamedWorkload.model_validate({"id": name}) for name in ("kv", "series"))
    definition = DEFINITION.model_copy(update={"workloads": workloads})
    installation.define(definition)
    store_every_state(installation, definition, MIXED)
    return installation


@pytest.mark.usefixtures("mixed")
def test_the_matrix_has_a_row_for_each_variant_with_each_workload(client: Client) -> None:
    shown = page(client, HERE)
    labels = " ".join(str(label) for label in shown.attributes("a", "aria-label"))

    assert "v1-kv-001k-r1: met" in labels
    assert "v1-series-001k-r1: met" in labels
    assert shown.text.count("series") >= 3
    assert "Variant and workload" in shown.text
    assert ", kv, at" in page(client, f"{HERE}/cells/v1-kv-001k-r1").text


@pytest.mark.usefixtures("mixed")
def test_capacities_and_cells_name_their_workload(client: Client) -> None:
    rows = client("viewer").get(f"{API}/capacity").json()
    status = client("viewer").get(API).json()

    assert [(row["workload"], row["variant"]) for row in rows][:2] == [("kv", "v1"), ("kv", "v2")]
    assert len(rows) == 6
    assert status["workloads"] == ["kv", "series"]
    assert {cell["workload"] for cell in status["matrix"]} == {"kv", "series"}
    assert "v1, series" in page(client, f"{HERE}/report").text


def test_the_report_leads_to_the_report_of_each_workload(client: Client, mixed: Installation) -> None:
    prefix = layout.REPORT_FILES.folder(MIXED)
    mixed.toolkit.store.write(f"{prefix}/report.html", b'<a href="kv-report.html">kv</a>')
    mixed.toolkit.store.write(f"{prefix}/kv-report.html", b"<h1>Of kv</h1>")
    found = client("viewer").get(f"{HERE}/report/kv-report.html")

    assert (found.status_code, found.text) == (200, "<h1>Of kv</h1>")
    assert "sandbox" in found.headers["Content-Security-Policy"]
    assert client("viewer").get(f"{HERE}/report/other-report.html").status_code == 404
    assert client("viewer").get(f"{HERE}/report/report.html").text == client("viewer").get(f"{HERE}/report/page").text
    links = page(client, f"{HERE}/report").attributes("a", "href")
    assert [link for link in links if link.startswith(f"{HERE}/report/k")] == [f"{HERE}/report/kv-report.html"]
    assert client().get(f"{HERE}/report/kv-report.html", follow_redirects=False).status_code != 200


def test_the_page_of_a_cell_says_that_a_ramp_missed_for_its_rate(client: Client, mixed: Installation) -> None:
    campaign = CampaignStore(mixed.toolkit.store, MIXED)
    for cell_id, is_of_ramp in (("v1-kv-001k-r1", True), ("v1-series-001k-r1", False)):
        verdict = layout.VERDICT.read(campaign.store, campaign.key(cell_id, 1))
        assert verdict
        fell_short = {"met": False, "rate_achieved": False, "achieved_ops_s": 900.0, "must_reach_rate": is_of_ramp}
        layout.VERDICT.write(campaign.store, verdict.key, verdict.model_copy(update=fell_short))
    reason = "it achieved 900 ops/s of 1,000 ops/s, and in a ramp a rate that is not achieved is a miss"

    assert reason in page(client, f"{HERE}/cells/v1-kv-001k-r1").text
    assert "in a ramp" not in page(client, f"{HERE}/cells/v1-series-001k-r1").text
