"""A cluster of somebody else that no longer answers under load has missed."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psutil
from tests.support.campaigns.running import run_cell
from tests.support.nodes.guarded import PORT, Guarded
from tests.support.processes import until
from tests.support.suite.requirements import long

from plimsoll.services.store.campaigns import CampaignStore

FROZEN_S = 9


def processes(theirs: Guarded) -> list[psutil.Process]:
    """Return the processes of the nodes, by where they listen."""
    listening = [one for one in psutil.net_connections("tcp") if one.status == psutil.CONN_LISTEN]
    pids = {one.pid for one in listening if one.laddr.ip in theirs.addresses and one.laddr.port == PORT}
    return [psutil.Process(pid) for pid in pids if pid]


@contextmanager
def frozen(theirs: Guarded) -> Iterator[None]:
    nodes = processes(theirs)
    assert len(nodes) == len(theirs.addresses)
    for node in nodes:
        node.suspend()
    try:
        yield
    finally:
        for node in nodes:
            node.resume()


@long("a PostgreSQL that stands still has missed, too")
def test_a_database_that_stands_still_has_missed_and_is_not_invalid(
    site: Any, definition: Any, theirs: Guarded
) -> None:
    said, tools = list[str](), site().tools
    own = definition(
        name="frozen",
        timing={"duration": "60s", "warmup": "2s"},
        service_levels=[{"percentile": 99, "interval": "2s", "below": "1s"}],
        stop_when=[{"errors": "50%", "within": "6s"}],
    )
    CampaignStore(tools.store, own.name).open(own)

    def freeze() -> None:
        until(lambda: any("load" in line and "ops/s" in line for line in said), "the timed run")
        with frozen(theirs):
            time.sleep(FROZEN_S)

    with ThreadPoolExecutor(1) as pool:
        freezing = pool.submit(freeze)
        ran, verdict = run_cell(tools, own.name, said.append)
        freezing.result()
    assert verdict.reasons == ()
    assert verdict.outcome == "missed"
    assert verdict.stopped
    [level] = verdict.levels
    assert level.missed >= 2
    assert not ran.troubles
