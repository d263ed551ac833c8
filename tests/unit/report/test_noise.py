from dataclasses import replace

import pytest
from tests.support.campaigns.synthetic import Plan, azul_definition, synthetic_campaign
from tests.unit.report.pages import rows_of

from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.analysis.campaign.noise import KeptHosts
from plimsoll.report.sections.noise import (
    noise_rows,
    noise_sheet,
    order_chart,
    steadiness_sheet,
    steady_table,
    typical_sheet,
    typical_table,
)


@pytest.fixture(scope="module")
def noisy() -> Findings:
    definition = azul_definition(loads=["20000/s"], timing={"duration": "35m", "warmup": "5m"})
    plan = Plan(dict.fromkeys(("prime", "g1", "cms", "shenandoah", "zgc"), 20_000), chance={}, drifts={"g1-020k-r2": 2})
    return analyse(synthetic_campaign(definition, plan))


def test_a_drift_is_said(noisy: Findings) -> None:
    rows = {row.question: row for row in noise_rows(noisy)}
    steady = rows["Steady after warm-up?"]
    assert (steady.answer, steady.shown) == ("1 of 25 cells drift or jump", True)
    (row,) = rows_of(steady_table(noisy))
    assert row["Cell"] == "g1-020k-r2"
    assert row["p99.9 of intervals"].startswith("drifts: end / start ")


def test_a_campaign_too_small_to_tell_says_so(demo: Findings) -> None:
    answers = {row.question: row.answer for row in noise_rows(demo)}
    assert answers["Order: does the position in the campaign matter?"] == "too few comparable cells to tell (0)"
    assert answers["Steady after warm-up?"] == "too short to tell"
    assert order_chart(demo) == ()
    assert rows_of(typical_table(demo))[0]["Typical p99.9 (ms, 95 %)"].endswith("(–)")


def test_the_order_chart_has_a_point_a_cell_in_the_order_run(noisy: Findings) -> None:
    (drawn,) = order_chart(noisy)
    assert [row["position"] for row in drawn.spec["data"]["values"]] == list(range(1, 26))


def test_tables_have_a_row_each(noisy: Findings) -> None:
    assert len(steadiness_sheet(noisy).frame()) == 25
    assert len(typical_sheet(noisy).frame()) == 5
    assert len(noise_sheet(noisy).frame()) == len(noise_rows(noisy))


def test_hosts_that_took_the_place_of_others_are_said(noisy: Findings) -> None:
    first = KeptHosts(cluster="hosts/1", cells=20, first_cell="g1-020k-r1", replaces="")
    second = KeptHosts(cluster="hosts/2", cells=5, first_cell="cms-020k-r5", replaces="hosts of it were gone")
    question = "Kept hosts: were any replaced?"
    assert question not in {row.question for row in noise_rows(noisy)}
    for hosts, shown in (((first,), False), ((first, second), True)):
        kept = replace(noisy, noise=noisy.noise.model_copy(update={"kept_hosts": hosts}))
        row = noise_rows(kept)[-1]
        assert (row.question, row.shown) == (question, shown)
    assert row.answer == (
        "hosts/1 served 20 cells; hosts/2 served 5 cells, from cms-020k-r5 on, in place of others: "
        "hosts of it were gone"
    )
