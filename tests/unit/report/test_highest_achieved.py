"""The highest achieved rate of each variant in every form of the report."""

import csv
import io
import json
from collections.abc import Mapping

import pytest
from tests.support.campaigns.outcomes import campaign_of

from plimsoll.analysis.campaign.findings import analyse
from plimsoll.report.sections.achieved import achieved_sheet, highest_table
from plimsoll.report.tables import as_csv


def test_the_files_agree(demo_files: Mapping[str, bytes]) -> None:
    document = json.loads(demo_files["report.json"])["highest_achieved"]
    rows = list(csv.DictReader(io.StringIO(demo_files["achieved.csv"].decode())))

    assert list(rows[0]) == ["variant", "load_ops_s", "repeats", "low", "median", "high", "mean", "highest_mean"]
    highest = [row for row in rows if row["highest_mean"] == "True"]
    assert [(row["variant"], int(row["load_ops_s"])) for row in highest] == [
        (one["variant"], one["load_ops_s"]) for one in document
    ]
    assert [one["variant"] for one in document] == ["g1", "shenandoah"]
    assert [float(row["mean"]) for row in highest] == pytest.approx([one["mean_ops_s"] for one in document])


def test_every_figure_is_described(demo_files: Mapping[str, bytes]) -> None:
    schema = json.loads(demo_files["report.schema.json"])["$defs"]["HighestAchieved"]
    assert {name for name, one in schema["properties"].items() if "description" not in one} == {"variant"}


def test_the_page_has_a_row_for_each_variant(demo_files: Mapping[str, bytes]) -> None:
    section = demo_files["report.html"].decode().partition('<section id="achieved">')[2].partition("</section>")[0]
    table = section.partition("<h3>Highest achieved rate</h3>")[2].partition("<h3>")[0]

    assert table.count('<th scope="row">') == 2
    assert "whether or not the service level was met" in table


def test_a_row_says_how_much_was_achieved_at_which_load_and_dashes_where_nothing_is_known() -> None:
    findings = analyse(campaign_of({"a": {1000: "mm", 2000: "xi"}, "b": {1000: "i.", 2000: ".."}}))

    assert highest_table(findings).texts == [
        ["A", "2,000 ops/s", "2,000 ops/s", "1 valid repeat"],
        ["B", "–", "–", "–"],
    ]
    assert as_csv(achieved_sheet(findings).frame()).decode().splitlines()[1:] == [
        "a,1000,2,1000.0,1000.0,1000.0,1000.0,False",
        "a,2000,1,2000.0,2000.0,2000.0,2000.0,True",
    ]


def test_a_campaign_without_a_valid_attempt_is_reported() -> None:
    findings = analyse(campaign_of({"a": {1000: "i"}}))

    assert achieved_sheet(findings).frame().empty
    assert highest_table(findings).texts == [["A", "–", "–", "–"]]
