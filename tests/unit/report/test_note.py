"""The note of a campaign in its report."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.fakes.installation import instant_definition
from tests.support.campaigns.synthetic import Plan, synthetic_campaign

from plimsoll.domain.attempt.result import Note
from plimsoll.report import build_report

DEFINITION = instant_definition(variants=1, loads=1)


@pytest.mark.usefixtures("without_drawings")
def test_a_note_stands_in_page_summary_and_data_as_text() -> None:
    note = Note(text="a <b>switch</b>\nwas replaced", by="ada", at=datetime(2026, 1, 31, 12, tzinfo=UTC))
    data = replace(synthetic_campaign(DEFINITION, Plan({"v1": 1000})), note=note)

    files = build_report(data)

    assert b"a &lt;b&gt;switch&lt;/b&gt;<br>was replaced" in files["report.html"]
    assert b"<b>switch" not in files["report.html"]
    assert b"Note (ada, " in files["summary.md"]
    assert Note.model_validate(json.loads(files["report.json"])["note"]) == note
