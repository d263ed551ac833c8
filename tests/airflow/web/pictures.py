"""Pictures of the pages for the documentation: light, dark and on a phone.

Matrix, cell and report are those of the real campaign whose bundle the documentation has, where it has one. The list of
campaigns, and two that are compared, take more campaigns than that and are made up. `make pictures` makes them, with
the report's.
"""

import tempfile
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI
from playwright.sync_api import ViewportSize
from tests.airflow.web.app import mounted
from tests.airflow.web.serving import LOOKS, served, visitor
from tests.fakes.installation import Installation, instant_definition
from tests.pictures.record import CAMPAIGN
from tests.support.airflow.home import environment_of, make_database
from tests.support.browser.chromium import running_browser
from tests.support.campaigns.stored import store_campaign, store_every_state, store_later_attempts
from tests.support.campaigns.synthetic import AZUL_CAPACITIES, Plan, azul_definition, synthetic_campaign

from plimsoll.analysis.campaign.cell_results import distance
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.ports.store import ResultStore
from plimsoll.report import build_report
from plimsoll.services.campaign.open.planning import new_campaign_id
from plimsoll.services.publish.bundles import read_bundle
from plimsoll.services.publish.reproducing import report_again
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore

CELL_USD = 6.1
HEIGHTS = {"campaigns": 720, "cell": 1080}
"""Of the pages that fill more or less than a screen, in pixels."""
MISSED = "shenandoah-080k-r2"


def main(folder: Path) -> None:
    """Write `<page>.png`, `<page>-dark.png` and `<page>-narrow.png` of each page."""
    with tempfile.TemporaryDirectory() as work, pytest.MonkeyPatch.context() as environment:
        installation = Installation(Path(work))
        for name, value in {**environment_of(Path(work, "airflow")), **installation.environment}.items():
            environment.setenv(name, value)
        pages = fill(installation)
        make_database()
        with mounted() as app:
            take(app, pages, folder)


def fill(installation: Installation, bundle: Path = CAMPAIGN) -> Mapping[str, str]:
    """Return the pages of made-up campaigns, and of the real one where there is its bundle."""
    pages = fill_with_made_up_ones(installation)
    return {**pages, **fill_with_real_one(installation.toolkit.store, bundle)} if bundle.exists() else pages


def fill_with_real_one(store: ResultStore, bundle: Path) -> Mapping[str, str]:
    """Return everything that the bundle holds, with its report.

    The page of a cell is that of the worst missed interval.
    """
    with bundle.open("rb") as stream:
        found = read_bundle(stream, bundle.name)
    with bundle.open("rb") as stream:
        remade = report_again(stream, bundle.name, "documentation")
    campaign = CampaignStore(store, remade.campaign_id)
    for name, content in found.files.items():
        store.write(f"{campaign.campaign_id}/{name}", content)
    for name, content in remade.files.items():
        store.write(f"{layout.REPORT_FILES.folder(campaign.campaign_id)}/{name}", content)
    page = f"/plimsoll/campaigns/{campaign.campaign_id}"
    return {"matrix": page, "cell": f"{page}/cells/{_worst_cell(campaign)}", "report-page": f"{page}/report"}


def _worst_cell(campaign: CampaignStore) -> str:
    worst = max(campaign.verdicts(), key=lambda verdict: distance(verdict) or 0.0)
    return worst.key.cell_id


def fill_with_made_up_ones(installation: Installation) -> Mapping[str, str]:
    """Return a finished campaign, one that was left incomplete, one that runs, and one that nobody has begun.

    Their pages.
    """
    store, now = installation.toolkit.store, installation.toolkit.clock.now()
    azul = azul_definition().model_copy(update={"budget": 2_000.0})
    cells = [cell.id for cell in grid(resolve(azul))]
    incomplete = Plan(AZUL_CAPACITIES, invalid=cells[30:33], not_run=cells[90:], seed=2)
    finished = []
    for days_ago, plan in ((2, incomplete), (31, Plan(AZUL_CAPACITIES))):
        begun = now - timedelta(days=days_ago)
        campaign = store_campaign(store, azul, new_campaign_id(azul.name, begun), plan, begun)
        for cell in campaign.cells_with_attempts():
            store.write(layout.COST.key(campaign.campaign_id, cell, 1, f"{CELL_USD:.6f}"), b"{}")
        finished.append(campaign.campaign_id)
    for name, content in build_report(synthetic_campaign(azul, plan)).items():
        store.write(f"{layout.REPORT_FILES.folder(campaign.campaign_id)}/{name}", content)
    demo, nightly = instant_definition("demo", variants=4, loads=5, repeats=3), instant_definition("nightly")
    running = store_every_state(installation, demo, new_campaign_id(demo.name, now))
    store_later_attempts(installation, running, running="v1-003k-r2", cancelled="v1-001k-r1")
    installation.open_campaign(nightly, new_campaign_id(nightly.name, now))
    whole = f"/plimsoll/campaigns/{campaign.campaign_id}"
    return {
        "campaigns": "/plimsoll/",
        "matrix": f"/plimsoll/campaigns/{running.campaign_id}",
        "cell": f"{whole}/cells/{MISSED}",
        "report-page": f"{whole}/report",
        "compare": "/plimsoll/compare?a={}&b={}".format(*finished),
    }


def take(app: FastAPI, pages: Mapping[str, str], folder: Path) -> None:
    """Take one picture for each page and look."""
    with served(app) as url, running_browser() as browser:
        for look in LOOKS:
            page = visitor(browser, url, look)
            for name, path in pages.items():
                page.goto(path, wait_until="networkidle")
                viewport = LOOKS[look]["viewport"]
                size: ViewportSize = {"width": viewport["width"], "height": viewport["height"]}
                if look != "narrow":
                    size["height"] = HEIGHTS.get(name, size["height"])
                page.set_viewport_size(size)
                page.screenshot(path=folder / (f"{name}.png" if look == "light" else f"{name}-{look}.png"))
