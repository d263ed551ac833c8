"""The answer of a published campaign with several parts."""

import json
from pathlib import Path
from typing import Any

from tests.fakes.installation import Installation, instant_definition

from plimsoll.services.publish.results import published_answer
from plimsoll.services.store.layout import report_key


def part(conclusion: str, warnings: dict[str, list[str]]) -> dict[str, Any]:
    return {"conclusion": conclusion, "warnings": warnings, "causes": [], "definition": {"variants": []}}


def test_the_whole_answer_comes_first_and_equal_warnings_of_parts_are_one(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    campaign = installation.open_campaign(instant_definition(variants=1, loads=1))
    names = [{"name": name, "document": f"{name}-report.json"} for name in ("maximum", "share")]
    documents: dict[str, Any] = {
        "report.json": {"conclusion": "All in all.", "parts": names},
        "maximum-report.json": part("Much.", {"it was busy": ["maximum-a"], "it was late": ["maximum-a"]}),
        "share-report.json": part("Less.", {"it was busy": ["share-a", "share-b"]}),
    }
    for name, document in documents.items():
        campaign.store.write(report_key("campaign", name), json.dumps(document).encode())

    answer = published_answer(campaign, installation.toolkit.clock.now())

    assert answer.conclusions == ("All in all.", "maximum: Much.", "share: Less.")
    assert answer.warnings == {"it was busy": ["maximum-a", "share-a", "share-b"], "it was late": ["maximum-a"]}
