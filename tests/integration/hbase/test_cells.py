"""Whole cells whose region server does not last: what their verdicts say."""

import signal
from collections.abc import Callable
from pathlib import Path

import psutil
from tests.integration.hbase.small import define
from tests.support.campaigns.running import run_missing
from tests.support.nodes.even import toolkit
from tests.support.processes import marked
from tests.support.resolved import only_part
from tests.support.suite.requirements import long

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.campaign.resolve import load_spec, product_spec, resolve
from plimsoll.ports.store import ResultStore
from plimsoll.services.publish.results import attempt_data
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.settings import Settings

pytestmark = long("takes minutes; stand-ins of it are among the unit tests")

DEFINITION = define(
    2,
    {"zookeeper.session.timeout": 10_000},
    workload={"name": "YcsbA", "recordcount": 200, "regions": 6},
    load_generator={"threads": 2, "concurrency": 20, "heap": "128M"},
    loads=["50/s"],
    timing={"duration": "60s", "warmup": "4s"},
    service_levels=[{"percentile": 99, "interval": "2s", "below": "5s"}],
)
MAIN = "org.apache.hadoop.hbase.regionserver.HRegionServer"


def ran_while(folder: Path, number: signal.Signals) -> tuple[ResultStore, Verdict]:
    """Run a cell and send the signal to the second host's region server as soon as the load is judged."""
    settings = Settings(store=str(folder / "store"), work=folder / "work", cache=Settings().cache)
    tools = toolkit(settings)
    CampaignStore(tools.store, "left").open(DEFINITION)
    tools.products["hbase"].prepare(product_spec(resolve(DEFINITION), "hbase"))
    tools.load_generators["plimsoll-stress"].prepare(load_spec(only_part(DEFINITION)))
    [ran] = run_missing(tools, "left", "me", sent_once_judged(settings.work, number))
    assert (ran.troubles, ran.remains) == ((), False)
    assert ran.verdict is not None
    assert not marked("PLIMSOLL_WORK", str(settings.work))
    return tools.store, ran.verdict


def sent_once_judged(work: Path, number: signal.Signals) -> Callable[[str], None]:
    sent: list[psutil.Process] = []

    def said(line: str) -> None:
        print(line)
        if ": load, p99/" in line and not sent:
            [server] = [one for one in marked("PLIMSOLL_WORK", str(work)) if is_server(one, "node2")]
            server.send_signal(number)
            sent.append(server)

    return said


def is_server(process: psutil.Process, node: str) -> bool:
    words = process.cmdline()
    return MAIN in words and any(f"/{node}/" in word for word in words)


def test_a_cell_whose_region_server_is_killed_ends_before_the_master_notices(tmp_path: Path) -> None:
    _, verdict = ran_while(tmp_path, signal.SIGKILL)
    assert verdict.outcome == "invalid"
    [reason] = verdict.reasons
    assert "load: regionserver of node2" in reason
    assert "ended with signal 9" in reason
    assert reason.endswith("\nthe Master had not noticed it yet, so nobody served its regions")


def test_a_region_server_that_stands_still_is_lost_and_named_in_the_verdict(tmp_path: Path) -> None:
    store, verdict = ran_while(tmp_path, signal.SIGSTOP)
    attempt = attempt_data(store, verdict)
    assert attempt.fingerprint is not None
    address = next(node.address for node in attempt.fingerprint.nodes if node.host == "node2")
    [lost] = [one for one in verdict.warnings if "region server" in one]
    assert lost.startswith(f"the Master gave up region server {address},16020,")
    assert " had to move, and " in lost or " moved to others until " in lost
    assert attempt.coincidences["server_lost"].max() > 0
