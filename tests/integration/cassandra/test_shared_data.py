"""A ramp on the same data, on a real node of this machine: the second load finds the process and rows of the first."""

import json
from collections.abc import Mapping
from pathlib import Path

from tests.support.airflow.run_to_report import disturbed_ramp
from tests.support.campaigns.raw_files import raw_text
from tests.support.campaigns.running import run_missing
from tests.support.nodes.even import toolkit
from tests.support.nodes.small import define
from tests.support.processes import marked
from tests.support.suite.requirements import long
from tests.support.suite.tries import tries

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.steps.running import CellRunEnd
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings


def definition() -> Definition:
    content = define(nodes=1).model_dump(mode="json", exclude={"workload", "loads", "service_levels", "timing"})
    return Definition.model_validate(
        {
            **content,
            "loads": ["100/s", "200/s"],
            "strategy": {"name": "ramp", "data": "same"},
            "cluster_scope": "campaign",
            "workload": {"name": "KeyValue", "rows": 2000, "keycount": 2000, "replication_factor": 1},
            "timing": {"duration": "12s", "warmup": "4s"},
            "service_levels": [{"percentile": 50, "interval": "4s", "below": "5s"}],
        }
    )


@long("loads share data with stand-ins, and cells share hosts in reliability")
def test_a_higher_load_runs_on_the_process_and_the_rows_of_the_lower_one(artefacts: Artefacts, tmp_path: Path) -> None:
    settings = Settings(store=str(tmp_path / "store"), work=tmp_path / "work", cache=Settings().cache)
    tools, own = toolkit(settings), definition()
    assert problems(tools, own) == ()

    low, high = ramped(tools, own)

    assert (low.troubles, high.troubles, low.remains, high.remains) == ((), (), False, False)
    fingerprint = layout.FINGERPRINT.read(tools.store, high.work.key)
    assert fingerprint is not None
    assert fingerprint.data_of == (f"{low.work.key.cell_id}/1",)
    logs = [raw_text(tools.store, one.work.key, "node1/cassandra/system.log") for one in (low, high)]
    assert logs[1].startswith(logs[0]), "another process wrote the second log"
    assert raw_text(tools.store, high.work.key, "node1/cassandra/gc.log").startswith(
        raw_text(tools.store, low.work.key, "node1/cassandra/gc.log")[:10_000]
    )
    populated, gone_on = (summary(tools, one.work.key) for one in (low, high))
    assert (populated["populate"]["scheduled"], gone_on["populate"]) == (2000, None)
    assert high.verdict is not None
    assert high.verdict.valid, high.verdict.reasons
    assert not [one for one in high.verdict.warnings if "compactions" in one]
    assert not marked("PLIMSOLL_WORK", str(settings.work))
    assert not [path for path in settings.work.rglob("*") if path.is_file()]


def ramped(tools: Toolkit, own: Definition) -> tuple[CellRunEnd, CellRunEnd]:
    """Return both loads of the first campaign that the machine did not disturb.

    Beside other tests a load may miss, which ends its ramp, or the machine may stall under it.
    """
    for name in map("ramped-{}".format, tries()):
        CampaignStore(tools.store, name).open(own)
        ran = run_missing(tools, name, "me", print)
        if not disturbed_ramp([one.verdict for one in ran], len(own.loads)):
            break
    assert len(ran) == len(own.loads), [(one.verdict, one.troubles) for one in ran]
    low, high = ran
    return low, high


def summary(tools: Toolkit, key: AttemptKey) -> Mapping[str, Mapping[str, int]]:
    found: Mapping[str, Mapping[str, int]] = json.loads(raw_text(tools.store, key, "load/summary.json"))
    return found
