"""The report of a campaign with several workloads: each judged by itself, nothing mixed."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.support.campaigns.outcomes import attempt_of, definition_of
from tests.support.campaigns.synthetic import GENERATED_AT

from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.analysis.campaign.findings import analyse, data_of_parts
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.hosts.cost import Entry, Spending
from plimsoll.report import build_report
from plimsoll.report.words.capacities import capacity_rows_of, loads_line

LETTERS: Mapping[str, str] = {"a-kv": "mx", "b-kv": "mm", "a-series": "mm", "b-series": "xx"}
"""Of each ladder the outcome at each of two loads, for all repeats."""


@pytest.fixture(scope="module")
def data() -> CampaignData:
    workloads = [{"id": "kv", "name": "KeyValue"}, {"id": "series"}]
    outcomes = {name: {10_000: "mm", 20_000: "mm"} for name in ("a", "b")}
    definition = definition_of(outcomes, control="a", workloads=workloads)
    attempts = [
        attempt_of(definition, cell, 1, LETTERS[cell.ladder][cell.load_ops_s // 10_000 - 1])
        for cell in grid(resolve(definition))
    ]
    return CampaignData("mixed-1", definition, tuple(attempts), (), GENERATED_AT)


def test_capacities_are_of_each_variant_with_each_workload(data: CampaignData) -> None:
    found = [
        (one.workload, one.variant, one.capacity_ops_s)
        for part in data_of_parts(data)
        for one in analyse(part).capacities
    ]
    assert found == [("kv", "a", 10_000), ("kv", "b", 20_000), ("series", "a", 20_000), ("series", "b", None)]


def test_variants_are_compared_within_a_workload_alone(data: CampaignData) -> None:
    kv, series = (analyse(part) for part in data_of_parts(data))
    assert [one.ratio_to_control for one in kv.capacities] == [None, 2.0]
    assert {cell.cell.workload for cell in series.cells} == {"series"}
    assert all(len(one.rungs) == 2 and one.rungs[0].repeats == 2 for one in (*kv.capacities, *series.capacities))


def test_the_table_of_capacities_names_the_workload(data: CampaignData) -> None:
    rows = capacity_rows_of(data)
    assert [row.variant for row in rows] == ["A, kv", "B, kv", "A, series", "B, series"]
    assert loads_line(rows)


@pytest.mark.usefixtures("without_drawings")
def test_each_workload_has_a_whole_report_below_one_that_leads_to_them(data: CampaignData) -> None:
    files = build_report(data)
    page = files["report.html"].decode()
    for name in ("kv", "series"):
        # In a new tab: from the frame of Plimsoll's pages, a browser would not send Airflow's cookie.
        assert f'href="{name}-report.html" target="_blank" rel="noopener"' in page
        assert {f"{name}-report.html", f"{name}-capacity.csv", f"{name}-operations.csv"} <= files.keys()
    document = json.loads(files["report.json"])
    assert [(part["name"], len(part["capacity"])) for part in document["parts"]] == [("kv", 2), ("series", 2)]
    assert len(document["cells"]) == 16
    assert document["cells"][0]["id"] == "a-kv-010k-r1"
    assert files["capacity.csv"].decode().splitlines()[1].startswith("kv,a,found,10000")
    assert json.loads(files["kv-report.json"])["counts"]["cells"] == 8
    assert "| B | **at least 20,000 ops/s** |" in files["summary.md"].decode()


@pytest.mark.usefixtures("without_drawings")
def test_a_workloads_report_says_whose_it_is_and_leads_back(data: CampaignData) -> None:
    files = build_report(data)
    for name in ("kv", "series"):
        page, summary = (files[f"{name}-{one}"].decode() for one in ("report.html", "summary.md"))
        assert f"<title>{data.definition.title}: {name} · mixed-1</title>" in page
        assert f"<h1>{data.definition.title}: {name}</h1>" in page
        assert f"<dt>Workload</dt><dd>{name}</dd>" in page
        assert '<a href="report.html" target="_blank" rel="noopener">' in page
        assert f"# {data.definition.title}: {name}\n" in summary


@pytest.mark.usefixtures("without_drawings")
def test_the_overview_explains_the_columns_that_it_shows(data: CampaignData) -> None:
    files = build_report(data)
    page, summary = files["report.html"].decode(), files["summary.md"].decode()
    assert '<a href="kv-report.html#methods" target="_blank" rel="noopener">methods</a>' in page
    assert "A cell that did not run counts neither as met nor as missed." in page
    assert "| Pass probability | Met with a chance of 90 % | To control |" in summary


@pytest.mark.usefixtures("without_drawings")
def test_a_workload_has_the_cost_of_its_own_attempts_and_the_overview_everything(data: CampaignData) -> None:
    key = AttemptKey(campaign_id="mixed-1", cell_id="a-kv-010k-r1", attempt=1)
    other, hosts = (key.model_copy(update={"cell_id": name}) for name in ("a-series-010k-r1", "hosts"))
    spending = Spending(
        entries=(Entry(key=key, usd=1.5, final=True), Entry(key=other, usd=2.0, final=True)),
        idle=(Entry(key=hosts, usd=0.25, final=True, idle=True),),
        prices=("a table",),
        estimated_usd=9.0,
        budget_usd=20.0,
    )
    files = build_report(replace(data, spending=spending))
    costs = [json.loads(files[f"{name}report.json"])["cost"] for name in ("", "kv-", "series-")]
    assert [(one["usd"], one["idle_usd"]) for one in costs] == [(3.75, 0.25), (1.5, 0.0), (2.0, 0.0)]
    assert [(one["estimated_usd"], one["budget_usd"]) for one in costs] == [(9.0, 20.0), (None, None), (None, None)]
    assert "cost" in json.loads(files["report.schema.json"])["properties"]
    whole, of_part = files["report.html"].decode(), files["kv-report.html"].decode()
    assert "0.25 USD are idle time of hosts that were kept" in whole
    assert "waiting and populating: 9.00 USD. The budget was 20.00 USD." in whole
    assert "Planned for every cell once" not in of_part
    assert "idle time of hosts" not in of_part
    assert "of which 0.25 USD idle time of kept hosts" in files["summary.md"].decode()
    assert "planned for every cell" not in files["kv-summary.md"].decode()


def test_a_campaign_with_one_workload_is_its_own_part(data: CampaignData) -> None:
    alone = replace(data, definition=data.definition.model_copy(update={"workloads": ()}), attempts=())
    (part,) = data_of_parts(alone)
    assert (part.part.id, len(part.state.cells)) == ("", 8)
