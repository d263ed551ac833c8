"""Pictures of the page *Campaigns* for the documentation, with made-up results.

.venv/bin/python -m tests.airflow.web.pictures docs/images
"""

import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI
from tests.airflow.conftest import make_database, pytest_unconfigure
from tests.airflow.web.conftest import mounted
from tests.airflow.web.serving import LOOKS, served, visitor
from tests.browser import running_browser
from tests.campaign_store import store_campaign, store_every_state
from tests.fakes.installation import Installation, instant_definition
from tests.synthetic import AZUL_CAPACITIES, Plan, azul_definition

from plimsoll.domain.cell import grid
from plimsoll.services import layout
from plimsoll.services.planning import new_campaign_id
from plimsoll.services.publishing import report_key

HEIGHT = 640
CELL_USD = 6.1


def main(folder: Path) -> None:
    """Write `campaigns.png`, `campaigns-dark.png` and `campaigns-narrow.png`."""
    with tempfile.TemporaryDirectory() as work, pytest.MonkeyPatch.context() as environment:
        installation = Installation(Path(work))
        for name, value in installation.environment.items():
            environment.setenv(name, value)
        fill(installation)
        try:
            make_database()
            with mounted() as app:
                take(app, folder)
        finally:
            pytest_unconfigure()


def fill(installation: Installation) -> None:
    """A finished campaign, one that was left incomplete, one that runs, and one that nobody has begun."""
    store, now = installation.toolkit.store, installation.toolkit.clock.now()
    azul = azul_definition().model_copy(update={"budget": 2_000.0})
    cells = [cell.id for cell in grid(azul)]
    incomplete = Plan(AZUL_CAPACITIES, invalid=cells[30:33], not_run=cells[90:], seed=2)
    for days_ago, plan in ((31, Plan(AZUL_CAPACITIES)), (2, incomplete)):
        begun = now - timedelta(days=days_ago)
        campaign = store_campaign(store, azul, new_campaign_id(azul, begun), plan, begun)
        for cell in campaign.cells_with_attempts():
            store.write(f"{layout.cost_prefix(campaign.key(cell, 1))}/{CELL_USD:.6f}.json", b"{}")
        if not plan.not_run:
            store.write(report_key(campaign.campaign_id), b"")
    demo, nightly = instant_definition("demo", variants=3, loads=2), instant_definition("nightly")
    store_every_state(installation, demo, new_campaign_id(demo, now))
    installation.open_campaign(nightly, new_campaign_id(nightly, now))


def take(app: FastAPI, folder: Path) -> None:
    """One picture a look."""
    with served(app) as url, running_browser() as browser:
        for look in LOOKS:
            page = visitor(browser, url, look)
            page.goto("/plimsoll/", wait_until="networkidle")
            size = page.viewport_size
            assert size is not None
            page.set_viewport_size({**size, "height": HEIGHT if look != "narrow" else size["height"]})
            name = "campaigns" if look == "light" else f"campaigns-{look}"
            page.screenshot(path=folder / f"{name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
