"""Bundles of campaigns that earlier versions ran make their reports again."""

from pathlib import Path

import pytest

from plimsoll.services.publish.reproducing import report_again

IMAGES = Path(__file__).parents[3] / "docs" / "images"


@pytest.mark.parametrize("name", ["campaign.zip", "null-campaign.zip"])
def test_a_bundle_without_causes_and_columns_that_came_later_is_reported(name: str) -> None:
    with (IMAGES / name).open("rb") as bundle:
        files = report_again(bundle, name, "test").files
    assert b"Why it missed" in files["report.html"]
