"""The report of a real campaign, made again from its bundle: answer, why it missed, one cell, as README shows it."""

import tempfile
from pathlib import Path

from tests.pictures.record import CAMPAIGN
from tests.support.browser.chromium import new_page, running_browser
from tests.support.campaigns.synthetic import demo_campaign

from plimsoll.report import build_report
from plimsoll.services.publish.reproducing import report_again

_WIDTH, _SCALE = 1100, 1.5
_SHOWN = """
nav, .description, .facts, .scale, #answer .scroll, #answer h3, #answer .note, #answer > p, .note, footer,
main > section:not(#answer, #why, #tracks),
#why .scroll, #why details, #why > p,
#tracks h3 ~ h3, #tracks figure ~ figure, #tracks h3 ~ h3 ~ .links { display: none !important; }
section { margin-top: 0.8em; padding-top: 1.2em; }
.masthead, main { padding-left: 32px; padding-right: 32px; }
"""


def _page(campaign: Path) -> bytes:
    """Return the report of the campaign whose bundle that is; of a made-up one where there is none."""
    if not campaign.exists():
        return build_report(demo_campaign())["report.html"]
    with campaign.open("rb") as stream:
        return report_again(stream, campaign.name, "documentation").files["report.html"]


def take(folder: Path, campaign: Path = CAMPAIGN) -> None:
    """Write `report.png`: long sections, the tables, are left out of the picture."""
    with tempfile.TemporaryDirectory() as work, running_browser() as browser:
        page = Path(work) / "report.html"
        page.write_bytes(_page(campaign))
        shown = new_page(browser, viewport={"width": _WIDTH, "height": 900}, device_scale_factor=_SCALE)
        shown.goto(page.as_uri())
        shown.add_style_tag(content=_SHOWN)
        shown.wait_for_function("!document.querySelector('#why .still') && !document.querySelector('#tracks .still')")
        shown.evaluate("document.fonts.ready")
        shown.screenshot(path=folder / "report.png", full_page=True)
