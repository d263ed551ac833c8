import json
from collections.abc import Mapping

import jsonschema
import pytest

from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.document import ReportDocument, report_document
from plimsoll.report.words.environment_facts import environment

ONLY_IF = ("rates_below", "incomplete", "unjudged", "approvals")
"""Keys that are left out where a campaign has nothing to say there."""


def test_the_stored_document_has_exactly_the_documented_keys(demo_files: Mapping[str, bytes]) -> None:
    document = json.loads(demo_files["report.json"])
    schema = ReportDocument.model_json_schema(mode="serialization")
    asked_for = [key for key in schema["properties"] if key.startswith("actions_") or key in ONLY_IF]
    assert list(document) == [key for key in schema["properties"] if key not in asked_for]
    assert document["format"] == 2


def test_it_holds_capacity_maxima_and_statistics(demo_files: Mapping[str, bytes]) -> None:
    document = json.loads(demo_files["report.json"])
    assert [(one["variant"], one["kind"], one["capacity_ops_s"]) for one in document["capacity"]] == [
        ("g1", "found", 200),
        ("shenandoah", "at-least", 1500),
    ]
    assert document["capacity"][0]["next_load"]["outcome"] == "missed"
    assert {one["load_ops_s"] for one in document["maxima"]["p99_9_ms"]} == {200, 1500}
    assert document["statistics"]["comparisons"][0]["conclusion"] == "too few repeats"
    assert document["counts"] == {"cells": 4, "met": 3, "missed": 1, "invalid": 0, "not_run": 0, "not_needed": 0}


def test_incomplete_cells_invalid_attempts_and_deviations_are_in_it(patchy: Findings) -> None:
    document = report_document(patchy, environment(patchy))
    states = {cell.id: cell.state for cell in document.cells}
    assert states["shenandoah-060k-r3"] == "not run"
    assert states["prime-060k-r2"] == "invalid"
    assert [one.cell for one in document.invalid] == ["prime-020k-r1", "prime-060k-r2"]
    assert "kernel" in {one.fact for one in document.environment.deviations}
    assert document.definition == patchy.data.definition


def test_the_document_is_valid_by_the_schema_beside_it(demo_files: Mapping[str, bytes]) -> None:
    schema, document = (json.loads(demo_files[name]) for name in ("report.schema.json", "report.json"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document | {"counts": "many"}, schema, jsonschema.Draft202012Validator)
