"""What the page of a cell shows, and the charts of its attempts."""

from io import BytesIO

import pandas as pd
import pytest
from tests.airflow.web.app import CAMPAIGN, DEFINITION, Client
from tests.airflow.web.markup import page
from tests.fakes.installation import Installation

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.fingerprint import ReportedNode
from plimsoll.domain.keys.action import Action, ActionResult, LevelAroundAction, PhaseFigures
from plimsoll.services.definitions.reference import dump_definition
from plimsoll.services.steps.steps import STEPS
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.tables import table_file, write_table

HERE = f"/plimsoll/campaigns/{CAMPAIGN}"

pytestmark = pytest.mark.usefixtures("campaign")


def test_links_to_dags_have_their_names_where_these_have_a_prefix(
    client: Client, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plimsoll_airflow.web.pages.CELL_DAG", "bench_cell")
    monkeypatch.setattr("plimsoll_airflow.web.pages.dag_id_of", lambda name: f"bench_{name}")
    cell = page(client, f"{HERE}/cells/v1-002k-r1")
    installation.toolkit.store.delete(CAMPAIGN)
    none = page(client, "/plimsoll/")

    assert "/dags/bench_cell/runs/demo-mine__v1-002k-r1" in cell.attributes("a", "href")
    assert ("/dags/bench_demo" in none.attributes("a", "href"), "such as bench_demo." in none.text) == (True, True)


def test_a_cell_shows_verdict_phases_environment_quality_and_files(client: Client) -> None:
    shown = page(client, f"{HERE}/cells/v1-002k-r1")

    for words in ("p99.9 of every 10s interval below 100ms", "provision", "5.11.0-1022-aws", "1 of 1 checks passed"):
        assert words in shown.text
    for one in STEPS:
        assert one.purpose in shown.text
    assert "Given up after" in shown.text
    links = shown.attributes("a", "href")
    assert "/dags/cell/runs/demo-mine__v1-002k-r1" in links
    assert f"{HERE}/cells/v1-002k-r1/1/quality/index.html" in links
    assert f"/plimsoll/api/v1/campaigns/{CAMPAIGN}/cells/v1-002k-r1/attempts/1/files/raw/load/load.hdr" in links


def test_an_invalid_attempt_says_its_reason_once(client: Client, campaign: Installation) -> None:
    assert page(client, f"{HERE}/cells/v2-001k-r1").text.count("node2 was down for 40 s") == 1


def test_an_attempt_that_failed_before_its_load_says_nothing_of_errors_and_rates(
    client: Client, campaign: Installation
) -> None:
    store = campaign.toolkit.store
    key = CampaignStore(store, CAMPAIGN).key("v2-001k-r1", 1)
    verdict = layout.VERDICT.read(store, key)
    assert verdict is not None
    failed = {"levels": (), "operations": 0, "errors": {}, "maxima": None, "achieved_ops_s": None}
    layout.VERDICT.write(store, key, verdict.model_copy(update=failed))
    shown = page(client, f"{HERE}/cells/v2-001k-r1").text
    assert "node2 was down for 40 s" in shown
    assert [word for word in ("Errors", "Achieved", "Operations") if word in shown] == []


@pytest.mark.parametrize("cell", ["v2-001k-r1", "v2-002k-r1", "v3-001k-r1", "v3-002k-r1"])
def test_a_cell_that_is_not_judged_valid_has_a_page_too(client: Client, cell: str) -> None:
    assert cell in page(client, f"{HERE}/cells/{cell}").text


def test_an_invalid_attempt_is_neither_met_nor_missed_on_its_page(client: Client, campaign: Installation) -> None:
    store = campaign.toolkit.store
    sound, unsound = (
        layout.VERDICT.read(store, CampaignStore(store, CAMPAIGN).key(cell, 1)) for cell in ("v1-001k-r1", "v2-001k-r1")
    )
    assert sound
    assert unsound
    layout.VERDICT.write(store, unsound.key, unsound.model_copy(update={"levels": sound.levels, "met": None}))
    shown = page(client, f"{HERE}/cells/v2-001k-r1").text

    assert "✓ met" not in shown
    assert "not judged" in shown
    assert "✓ met" in page(client, f"{HERE}/cells/v1-001k-r1").text


def test_a_miss_by_errors_says_so(client: Client, campaign: Installation) -> None:
    store = campaign.toolkit.store
    verdict = layout.VERDICT.read(store, CampaignStore(store, CAMPAIGN).key("v1-001k-r1", 1))
    assert verdict
    failing = {"met": False, "errors": {"timeout": 900, "unavailable": 100}}
    layout.VERDICT.write(store, verdict.key, verdict.model_copy(update=failing))

    shown = page(client, f"{HERE}/cells/v1-001k-r1").text
    assert "1,000 operations failed. Response times kept the service level, but 0.1 % of failed" in shown
    assert "operations failed." not in page(client, f"{HERE}/cells/v1-002k-r1").text


def test_a_load_that_a_rule_ended_says_so_beside_its_service_levels(client: Client, campaign: Installation) -> None:
    store = campaign.toolkit.store
    verdict = layout.VERDICT.read(store, CampaignStore(store, CAMPAIGN).key("v1-001k-r1", 1))
    assert verdict
    stopped = {"met": False, "stopped": "the load was ended after 40s by `stop_when[0]`"}
    layout.VERDICT.write(store, verdict.key, verdict.model_copy(update=stopped))

    assert "Missed: the load was ended after 40s by" in page(client, f"{HERE}/cells/v1-001k-r1").text


def test_a_phase_that_is_left_open_is_not_called_missed(client: Client, campaign: Installation) -> None:
    store = campaign.toolkit.store
    verdict = layout.VERDICT.read(store, CampaignStore(store, CAMPAIGN).key("v1-001k-r1", 1))
    assert verdict
    left_open, missed = (
        PhaseFigures(judged=5, missed=count, met=met, worst_ms=worst)
        for count, met, worst in ((0, None, None), (2, False, 310.0))
    )
    [level] = verdict.levels
    around = LevelAroundAction(
        service_level=level.service_level, before=left_open, during=missed, after=left_open, met_again_s=None
    )
    action = ActionResult(
        action=Action(name="compact"), hosts=(), begun_s=30.0, ended_s=40.0, duration_s=10.0, evidence=("compacted",),
        parts=(), streamed_bytes=None, failed=None, levels=(around,),
    )  # fmt: skip
    layout.VERDICT.write(store, verdict.key, verdict.model_copy(update={"action": action}))

    shown = page(client, f"{HERE}/cells/v1-001k-r1").text
    assert "left open, worst –" in shown
    assert "missed 2 of 5, worst 310 ms" in shown
    assert "missed 0 of 5" not in shown


def test_a_worst_interval_that_missed_by_failed_operations_is_no_exact_figure(
    client: Client, campaign: Installation
) -> None:
    store = campaign.toolkit.store
    verdict = layout.VERDICT.read(store, CampaignStore(store, CAMPAIGN).key("v1-002k-r1", 1))
    assert verdict
    levels = tuple(level.model_copy(update={"worst_is_floor": True, "worst_ms": 100.0}) for level in verdict.levels)
    layout.VERDICT.write(store, verdict.key, verdict.model_copy(update={"levels": levels}))

    shown = page(client, f"{HERE}/cells/v1-002k-r1")
    assert "≥ 100 ms" in shown.text
    assert "worst interval at least 100 ms, at least 1 times the bound" in shown.attributes("img", "alt")[0]


def test_an_action_without_a_load_began_at_no_moment_of_one(client: Client, campaign: Installation) -> None:
    store = campaign.toolkit.store
    verdict = layout.VERDICT.read(store, CampaignStore(store, CAMPAIGN).key("v1-001k-r1", 1))
    assert verdict
    action = ActionResult(
        action=Action(name="add-node"), hosts=(), begun_s=-30.0, ended_s=-10.0, duration_s=20.0, evidence=("joined",),
        parts=(), streamed_bytes=None, failed=None, levels=(),
    )  # fmt: skip
    layout.VERDICT.write(store, verdict.key, verdict.model_copy(update={"action": action}))

    shown = page(client, f"{HERE}/cells/v1-001k-r1").text
    assert "It was done without a load and took 20.0 s" in shown
    assert "after the start of the load" not in shown


def test_the_chart_takes_the_pages_inks_and_carries_no_style_that_the_policy_forbids(client: Client) -> None:
    answer = client("viewer").get(f"{HERE}/cells/v1-002k-r1/attempts/1/timeline.svg")

    assert answer.headers["content-type"] == "image/svg+xml"
    assert "currentColor" in answer.text
    assert "style=" not in answer.text
    assert "<script" not in answer.text


def test_a_chart_is_drawn_anew_and_asked_for_anew_once_its_attempt_was_judged_again(
    client: Client, campaign: Installation
) -> None:
    store, at = campaign.toolkit.store, f"{HERE}/cells/v1-002k-r1/attempts/1"
    key = AttemptKey(campaign_id=CAMPAIGN, cell_id="v1-002k-r1", attempt=1)
    before = [client("viewer").get(f"{at}/{name}") for name in ("timeline.svg", "charts")]
    verdict, intervals = (
        layout.VERDICT.read(store, key),
        pd.read_parquet(BytesIO(store.read(layout.attempt_file(key, table_file("intervals"))))),
    )
    assert verdict
    write_table(store, key, "intervals", intervals.assign(judged_ms=77.7, p99_9_ms=77.7))
    layout.VERDICT.write(store, key, verdict.model_copy(update={"code_version": "a newer one"}))

    after = [client("viewer").get(f"{at}/{name}") for name in ("timeline.svg", "charts")]

    assert [one.text != other.text for one, other in zip(before, after, strict=True)] == [True, True]
    assert {one.headers["cache-control"] for one in (*before, *after)} == {"private, no-cache"}


def test_charts_have_the_name_of_their_variant_in_a_campaign_that_was_made_anew_with_equal_results(
    client: Client, campaign: Installation
) -> None:
    at = f"{HERE}/cells/v1-002k-r1/attempts/1/charts"
    before = client("viewer").get(at).text
    named = tuple(one.model_copy(update={"title": f"Renamed {one.id}"}) for one in DEFINITION.variants)
    renamed = DEFINITION.model_copy(update={"variants": named})
    campaign.toolkit.store.write(layout.DEFINITION.key(CAMPAIGN), dump_definition(renamed).encode())

    after = client("viewer").get(at).text

    assert ("Renamed v1" in before, "Renamed v1" in after) == (False, True)


def test_all_that_was_collected_is_framed_without_access_to_airflow(client: Client, campaign: Installation) -> None:
    rows = [(40.0, 41.5, "node2", "a", "WARN <slow>"), (20.0, 21.0, "node1", "a", "gc.log: Pause Full 900ms")]
    key = AttemptKey(campaign_id=CAMPAIGN, cell_id="v1-002k-r1", attempt=1)
    verdict = layout.VERDICT.read(campaign.toolkit.store, key)
    assert verdict
    intervals = pd.DataFrame(
        {
            "start_s": [10.0, 20.0, 40.0], "duration_s": 10.0, "phase": "judged", "operation": "all", "count": 100,
            "rate_ops_s": 2_000.0, "p50_ms": 1.0, "p90_ms": 2.0, "p99_ms": 3.0, "p99_9_ms": [50.0, 950.0, 700.0],
            "max_ms": 990.0, "judged_ms": [50.0, 950.0, 700.0], "met": pd.array([True, False, False], dtype="boolean"),
        }
    )  # fmt: skip
    write_table(campaign.toolkit.store, key, "intervals", intervals)
    lines = pd.DataFrame(rows, columns=["start_s", "at_s", "host", "process", "text"])
    write_table(campaign.toolkit.store, key, "log_lines", lines)
    charts = f"{HERE}/cells/v1-002k-r1/attempts/1/charts"

    frames = page(client, f"{HERE}/cells/v1-002k-r1").attributes("iframe", "src")
    answer = client("viewer").get(charts)

    assert frames == [charts]
    assert "sandbox allow-scripts" in answer.headers["content-security-policy"]
    assert answer.text.index("node1: gc.log: Pause Full 900ms") < answer.text.index("node2: WARN &lt;slow&gt;")
    assert '<a href="#miss-v1-002k-r1-20">20 s</a>' in answer.text
    assert "Answered (ops/s)" in answer.text
    assert client("viewer").get(charts.replace("v1-002k", "v2-002k")).status_code == 404


def test_the_environment_of_a_cell_names_its_nodes_and_each_of_its_load_hosts(
    client: Client, campaign: Installation
) -> None:
    store, key = campaign.toolkit.store, AttemptKey(campaign_id=CAMPAIGN, cell_id="v1-001k-r1", attempt=1)
    fingerprint = layout.FINGERPRINT.read(store, key)
    assert fingerprint is not None
    bigger = fingerprint.load_host.model_copy(update={"cpus": 96})
    data_of = ("v1-000k-r1/1", "v1-000k-r1/2")
    changed = fingerprint.model_copy(update={"further_load_hosts": {"load2": bigger}, "data_of": data_of})
    layout.FINGERPRINT.write(store, key, changed)

    shown = page(client, f"{HERE}/cells/v1-001k-r1").text

    for host in ("load", "load2"):
        assert f"{host}{fingerprint.load_generator}" in shown
    assert f"96 × {bigger.cpu_model}" in shown
    assert fingerprint.nodes[0].host in shown
    assert "Data: populated by v1-000k-r1/1. Loads that ran on them before: v1-000k-r1/1, v1-000k-r1/2." in shown


def test_the_environment_of_a_cell_on_somebody_elses_database_names_what_is_known_of_it(
    client: Client, campaign: Installation
) -> None:
    store = campaign.toolkit.store
    key = CampaignStore(store, CAMPAIGN).key("v1-002k-r1", 1)
    fingerprint = layout.FINGERPRINT.read(store, key)
    assert fingerprint is not None
    told = ReportedNode(address="db.example:5432", data_centre="", rack="", release_version="15.3")
    looked_at = fingerprint.nodes[0].model_copy(update={"processes": (), "database": "external", "address": "10.0.0.9"})
    for nodes, words in (((), []), ((looked_at,), ["external at 10.0.0.9"])):
        theirs = fingerprint.model_copy(update={"nodes": nodes, "reported_nodes": (told,)})
        layout.FINGERPRINT.write(store, key, theirs)
        shown = page(client, f"{HERE}/cells/v1-002k-r1").text
        assert [one for one in ["db.example:5432", "15.3, by its own word", *words] if one not in shown] == []
