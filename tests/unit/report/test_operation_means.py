"""The mean p99 of each operation in every form of the report."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.support.campaigns.outcomes import campaign_of

from plimsoll.analysis.campaign.by_load import OperationP99
from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.report.build import figures
from plimsoll.report.page import page_html
from plimsoll.report.sections.achieved import operations_sheet, operations_table

TOLD = {"variant": "a", "load_ops_s": 1000, "repeats": 3, "intervals": 18, "unanswered": 0}


def mean_p99(operation: str, **changes: object) -> OperationP99:
    figures_ms = {"low_ms": 2.5, "median_ms": 3.25, "high_ms": 12.0}
    return OperationP99.model_validate(TOLD | figures_ms | {"operation": operation} | changes)


def findings_with(*means: OperationP99) -> Findings:
    return replace(analyse(campaign_of({"a": {1000: "mmm"}, "b": {1000: "mi."}})), p99_by_operation=means)


def text_of(findings: Findings) -> str:
    """Return the section of achieved rates."""
    page = page_html(findings, figures(findings))
    return page.partition('<section id="achieved">')[2].partition("</section>")[0]


def test_the_files_agree(demo_files: Mapping[str, bytes]) -> None:
    document = json.loads(demo_files["report.json"])
    rows = list(csv.DictReader(io.StringIO(demo_files["operations.csv"].decode())))
    assert list(rows[0]) == list(OperationP99.model_fields)
    assert [(one["variant"], one["load_ops_s"], one["operation"]) for one in rows] == [
        (variant, load, operation)
        for variant in ("g1", "shenandoah")
        for load in ("200", "1500")
        for operation in ("reads", "writes")
    ]
    medians = [float(one["median_ms"]) for one in rows]
    assert medians == pytest.approx([one["median_ms"] for one in document["p99_by_operation"]])


def test_every_field_is_described(demo_files: Mapping[str, bytes]) -> None:
    schema = json.loads(demo_files["report.schema.json"])["$defs"]["OperationP99"]
    known = {"variant", "load_ops_s"}  # as in every table
    assert {name for name, one in schema["properties"].items() if "description" not in one} == known


def test_the_page_has_a_row_for_each_variant_and_load(demo_files: Mapping[str, bytes]) -> None:
    section = demo_files["report.html"].decode().partition('<section id="achieved">')[2].partition("</section>")[0]
    table = section.partition("<h3>Mean p99 of each operation</h3>")[2]
    assert table.count('<th scope="row">') == 4
    assert ">Reads: mean p99 (ms)</th>" in table
    assert ">Writes: mean p99 (ms)</th>" in table
    assert "A mean hides bad seconds, which is why the service level counts intervals instead." in table
    assert "in brackets" not in table  # one repeat has no range


def test_texts_have_the_range_over_repeats_and_what_is_left_out() -> None:
    partly = mean_p99("writes", repeats=1, unanswered=2, low_ms=4.0, median_ms=4.0, high_ms=4.0)
    table = operations_table(findings_with(mean_p99("reads"), partly))
    assert table
    assert [one.heading for one in table.columns[3:]] == ["Reads: mean p99 (ms)", "Writes: mean p99 (ms)"]
    first, second = table.texts
    assert first[:3] == ["A", "1,000 ops/s", "3 of 3 repeats"]
    assert first[3:] == ["3.25 (2.5 to 12)", "4; of 1 repeat; 2 intervals without an answer"]
    assert second[2:] == ["1 of 3 repeats", "–", "–"]


def test_operations_have_the_names_that_the_load_generator_gives() -> None:
    findings = findings_with(mean_p99("deletes<b>"))
    table = operations_table(findings)
    assert table
    assert [one.heading for one in table.columns[3:]] == ["Deletes<b>: mean p99 (ms)"]
    section = text_of(findings)
    assert "Deletes&lt;b&gt;: mean p99 (ms)" in section
    assert "in brackets the lowest to the highest" in section


def test_a_campaign_whose_intervals_tell_no_operation_says_so() -> None:
    findings = findings_with()
    assert operations_table(findings) is None
    assert operations_sheet(findings).frame().columns.tolist() == list(OperationP99.model_fields)
    section = text_of(findings)
    assert "The intervals of no valid attempt distinguish operations." in section
    assert "A mean hides" not in section
