"""What goes wrong during a load, with a real Cassandra node and the real load generator: said, kept, cleaned up."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.support.nodes.even import EVEN_NODES
from tests.support.suite.requirements import needs

from plimsoll.adapters.local.sweep import marked
from plimsoll.bootstrap import load_definition
from plimsoll.domain.result import Verdict
from plimsoll.services.definitions.text import dump_definition
from plimsoll.settings import Settings

_PLIMSOLL = str(Path(sys.executable).with_name("plimsoll"))
_CHANGES = {
    "name": "faulty",
    "system": {"database": "cassandra", "version": "4.0.1", "nodes": 1},
    "loads": ["200/s"],
    "timing": {"duration": "60s", "warmup": "10s"},
    # More than the small disk of these tests has is asked for by default.
    "provider": {"name": "local", "options": {"disk_per_node": "1M"}},
}
# A file system of its own for the clusters, in a mount namespace of its own: it goes with the command.
_ON_A_SMALL_DISK = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=200m small "$0" && exec "$@"')


@dataclass
class RunningCampaign:
    """A campaign of one cell in a process of its own; what it says is read line by line."""

    work: Path
    store: Path
    process: "subprocess.Popen[str]"
    said: list[str] = field(default_factory=list)

    def until(self, words: str) -> None:
        """Read on until a line holds the words; the test fails with all that was said if none does."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line)
            if words in line:
                return
        pytest.fail(f"ended without saying {words!r}:\n{''.join(self.said)}")

    def kill(self, program: str) -> None:
        """Kill the cluster's process of that main class, as the machine's memory watch would."""
        [process] = [one.process for one in marked(self.work) if program in one.process.cmdline()]
        os.kill(process.pid, signal.SIGKILL)

    def fill_disk(self) -> None:
        """Take all the room that the clusters' disk has left; it is seen through the process that mounted it."""
        filler = Path(f"/proc/{self.process.pid}/root{self.work}/filler")
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass

    def verdict(self) -> Verdict:
        """The only attempt's, once all is over; nothing of its cluster is left by then."""
        self.said += self.process.communicate(timeout=120)[0].splitlines(keepends=True)
        assert list(marked(self.work)) == []
        assert self.work.is_dir() is False or list(self.work.glob("*/*/*")) == []
        [path] = self.store.glob("*/cells/*/*/verdict.json")
        return Verdict.model_validate_json(path.read_bytes())


@pytest.fixture
def run_faulty(tmp_path: Path) -> Iterator["Launcher"]:
    """Start the campaign, with a command before it where its clusters need another surrounding."""
    launcher = Launcher(tmp_path)
    yield launcher
    launcher.end()


class Launcher:
    """Starts the campaign and sees to its end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: list[RunningCampaign] = []

    def __call__(self, before: Sequence[str] = ()) -> RunningCampaign:
        """A running campaign; `before` gets the clusters' folder as its first argument."""
        work, store = self._folder / "clusters", self._folder / "store"
        work.mkdir()
        demo = load_definition(Settings(), "demo")
        asked = demo.model_dump(mode="json") | _CHANGES
        asked["variants"], asked["control"] = asked["variants"][:1], None
        asked["workload"]["replication_factor"] = 1
        path = self._folder / "faulty.yaml"
        path.write_text(dump_definition(type(demo).model_validate(asked)))
        process = subprocess.Popen(
            [*before, *([str(work)] if before else []), _PLIMSOLL, "run", str(path)],
            env={**os.environ, **EVEN_NODES, "PLIMSOLL_WORK": str(work), "PLIMSOLL_STORE": str(store)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._running.append(RunningCampaign(work, store, process))
        return self._running[-1]

    def end(self) -> None:
        """Whatever a failed test left."""
        for campaign in self._running:
            campaign.process.kill()
            campaign.process.wait()
            for one in marked(campaign.work):
                one.process.kill()


@pytest.mark.timeout(300)
def test_a_node_that_dies_makes_the_attempt_invalid_with_its_last_words(run_faulty: Launcher) -> None:
    campaign = run_faulty()
    campaign.until("/1: load, ")
    campaign.kill("org.apache.cassandra.service.CassandraDaemon")
    [reason] = campaign.verdict().reasons
    assert reason.startswith("load: node1 ")
    assert "last lines" in reason
    assert "INFO" in reason
    assert campaign.process.returncode == 2
    assert "run again: g1-00200-r1" in "".join(campaign.said)


@pytest.mark.timeout(300)
def test_a_load_generator_that_is_killed_makes_the_attempt_invalid_and_leaves_its_records(run_faulty: Launcher) -> None:
    campaign = run_faulty()
    campaign.until("/1: load, ")
    campaign.kill("plimsoll.stress.Main")
    verdict = campaign.verdict()
    [reason] = verdict.reasons
    assert "left no summary" in reason
    assert "signal 9" in reason or "killed" in reason or "exit code 137" in reason
    [log] = campaign.store.glob("*/cells/*/*/raw/load/*.hdr-intended-mutations")
    assert len(log.read_text().splitlines()) > 10


@needs(os.getuid() == 0 and shutil.which("unshare") is not None, "mounting a small disk takes root")
@pytest.mark.timeout(300)
def test_a_disk_that_fills_up_is_said_with_how_to_mend_it(run_faulty: Launcher) -> None:
    campaign = run_faulty(_ON_A_SMALL_DISK)
    campaign.until("/1: load, ")
    campaign.fill_disk()
    reason = " ".join(campaign.verdict().reasons)
    assert "its disk is full: free disk space" in reason or "No space left on device" in reason
    assert campaign.process.returncode == 2
