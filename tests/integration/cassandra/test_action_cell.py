"""A whole cell whose new node is killed while it joins: real nodes, from provisioning to the verdict."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from tests.support.campaigns.running import run_missing
from tests.support.nodes.even import toolkit
from tests.support.nodes.small import QUICK, define
from tests.support.processes import marked
from tests.support.suite.requirements import long

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.settings import Settings

MAIN = "org.apache.cassandra.service.CassandraDaemon"


@long("takes a minute; stand-ins of it are among the unit tests")
def test_a_new_node_that_is_killed_makes_the_attempt_invalid_and_leaves_nothing(
    artefacts: Artefacts, tmp_path: Path
) -> None:
    settings = Settings(store=str(tmp_path / "store"), work=tmp_path / "work", cache=Settings().cache)
    content = define(2, flags=[*QUICK["flags"], "-Dcassandra.ring_delay_ms=10000"]).model_dump(  # type: ignore[misc]
        mode="json", exclude={"timing"}
    )
    own = Definition.model_validate(
        {
            **content,
            "name": "acted",
            "timing": {"duration": "300s", "warmup": "2s"},
            "action": {"name": "add-node", "at": "2s"},
        }
    )
    artefacts.prepare_program("load-generator")
    tools, said = toolkit(settings), list[str]()
    CampaignStore(tools.store, "acted").open(own)

    with killed_once_it_runs(settings.work, "node3"):
        [ran] = run_missing(tools, "acted", "me", said.append)

    assert ran.verdict is not None
    assert ran.verdict.outcome == "invalid"
    (reason,) = ran.verdict.reasons
    assert "add-node" in reason
    assert "node3" in reason
    assert "signal 9" in reason
    assert not ran.remains
    assert not marked("PLIMSOLL_WORK", str(settings.work))


@contextmanager
def killed_once_it_runs(work: Path, node: str) -> Iterator[None]:
    """Send signal 9 to the JVM of that node as soon as there is one, while the block lasts."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.2):
            for process in marked("PLIMSOLL_WORK", str(work)):
                if is_node(process, node):
                    process.kill()
                    return

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def is_node(process: psutil.Process, node: str) -> bool:
    """Tell whether that process is the JVM of that node."""
    try:
        words = process.cmdline()
    except psutil.NoSuchProcess:
        return False
    return MAIN in words and any(f"/{node}/" in word for word in words)
