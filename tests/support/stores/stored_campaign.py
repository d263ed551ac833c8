"""Make the samples' stored campaign anew, when the format of stores changes on purpose:
`python -m tests.support.stores.stored_campaign`.

Hosts and loads are instant, the hosts are kept and cost money, so that all kinds of records are in it. Data Docs are
left out for their size.
"""

import tarfile
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from tests.fakes.installation import Installation, instant_definition
from tests.fakes.paid import PaidProvider, Prices

from plimsoll.domain.campaign.grid import cell_ids
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.services.campaign.curating import annotate
from plimsoll.services.steps.running import run_cells

STORED = Path(__file__).parents[2] / "samples" / "stored-campaign.tar.gz"
CAMPAIGN = "stored-1"


def store_campaign(folder: Path) -> None:
    """Run two variants at two loads on hosts that the campaign keeps, and write a note on it."""
    installation = Installation(folder)
    made = installation.toolkit
    provider = PaidProvider(made.providers["instant"], made.clock)
    tools = replace(made, providers={"instant": provider}, tariffs={"instant": Prices()})
    definition = instant_definition("stored", parallel=1).model_copy(update={"cluster_scope": "campaign"})
    campaign = installation.open_campaign(definition, CAMPAIGN)
    run_cells(tools, CAMPAIGN, cell_ids(resolve(definition)), "test", print)
    annotate(campaign, "Held by the tests", "ada", tools.clock.now())


def pack(store: Path, archive: Path) -> None:
    """Pack the store's files in the order of their names, without Data Docs."""
    with tarfile.open(archive, "w:gz") as packed:
        for path in sorted(store.rglob("*")):
            name = PurePosixPath(path.relative_to(store))
            if path.is_file() and "quality" not in name.parts:
                packed.add(path, str(name))


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        store_campaign(Path(folder))
        pack(Path(folder) / "store", STORED)
