"""What goes wrong during a load, with a real Cassandra node and the real load generator: said, kept, cleaned up.

In one campaign, each of whose cells meets another fault.
"""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.support.campaigns.local_definition import ANY_NOISE
from tests.support.campaigns.small_definition import SMALL
from tests.support.nodes.even import EVEN_NODES
from tests.support.processes import PLIMSOLL, command_line
from tests.support.suite.requirements import long, needs

from plimsoll.adapters.providers.local.folders import tagged_processes
from plimsoll.bootstrap import load_definition
from plimsoll.domain.attempt.result import Verdict
from plimsoll.services.definitions.reference import dump_definition
from plimsoll.settings import Settings

_CHANGES = {
    "name": "faulty",
    "system": {"database": "cassandra", "version": "4.0.1", "nodes": 1},
    "loads": ["200/s"],
    "timing": {"duration": "60s", "warmup": "10s"},
    "disturbance": ANY_NOISE,
    # More than the small disk of these tests has is asked for by default.
    "provider": {"name": "local", "options": {"disk_per_node": "1M"}},
}
# A file system of its own for the clusters, in a mount namespace of its own: it goes with the command.
_ON_A_SMALL_DISK = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=200m small "$0" && exec "$@"')
_CAN_MOUNT = os.getuid() == 0 and shutil.which("unshare") is not None

REST_S = 600
"""The longest that a busy machine may take for the end of the last cell and the report, s."""

pytestmark = [pytest.mark.timeout(900), long("such faults strike a node and a load generator apart from a campaign")]


@dataclass
class FaultyCampaign:
    """A campaign in a process of its own; what it says is read line by line."""

    work: Path
    store: Path
    process: "subprocess.Popen[str]"
    said: list[str] = field(default_factory=list)
    struck: dict[str, str] = field(default_factory=dict)
    """The cell that met each fault."""

    def strike(self, fault: str) -> None:
        """Let the next cell that is under load meet the fault."""
        self.struck[fault] = self._next_under_load()
        FAULTS[fault](self)

    def kill(self, program: str) -> None:
        """Kill the cluster's process of that main class, as the machine's memory watch would."""
        [process] = [one for one, _ in tagged_processes(self.work) if program in command_line(one)]
        os.kill(process.pid, signal.SIGKILL)

    def fill_disk(self) -> None:
        """Take all the room that the clusters' disk has left."""
        with contextlib.suppress(OSError), (self.clusters / "filler").open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass

    @property
    def clusters(self) -> Path:
        """Return their folder, seen through the process that mounted it."""
        return Path(f"/proc/{self.process.pid}/root{self.work}")

    def verdict(self, fault: str) -> Verdict:
        """Return that of the only attempt at the cell that met the fault."""
        [path] = self.store.glob(f"*/cells/{self.struck[fault]}/*/verdict.json")
        return Verdict.model_validate_json(path.read_bytes())

    def _next_under_load(self) -> str:
        """Read on until it says so of a cell that has met no fault; the cell's id."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line)
            attempt, _, line_end = line.partition("/1: ")
            cell = attempt.rpartition("/")[2]
            if line_end.startswith("load, ") and cell not in self.struck.values():
                return cell
        pytest.fail(f"ended with no other cell under load:\n{''.join(self.said)}")


NODE, LOAD_GENERATOR, DISK = "a node dies", "the load generator is killed", "the disk fills up"
FAULTS: Mapping[str, Callable[[FaultyCampaign], None]] = {
    NODE: lambda campaign: campaign.kill("org.apache.cassandra.service.CassandraDaemon"),
    LOAD_GENERATOR: lambda campaign: campaign.kill("plimsoll.stress.Main"),
    # The last: nothing frees the disk.
    **({DISK: FaultyCampaign.fill_disk} if _CAN_MOUNT else {}),
}


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyCampaign]:
    """Provide the campaign, once all is over; nothing of its clusters is left by then."""
    running = started(tmp_path_factory.mktemp("faulty"))
    try:
        for fault in FAULTS:
            running.strike(fault)
        # The small disk outlives the command for as long as a folder of it is open.
        with opened(running.clusters) as clusters:
            running.said += running.process.communicate(timeout=REST_S)[0].splitlines(keepends=True)
            assert list(tagged_processes(running.work)) == []
            assert list(clusters.glob("*/*/*")) == []
        yield running
    finally:
        end(running)


def started(folder: Path) -> FaultyCampaign:
    """Return the running campaign: a cell for each fault."""
    work, store = folder / "clusters", folder / "store"
    work.mkdir()
    demo = load_definition(Settings(), str(SMALL))
    content = demo.model_dump(mode="json") | _CHANGES | {"repeats": len(FAULTS)}
    content["variants"], content["control"] = content["variants"][:1], None
    content["workload"]["replication_factor"] = 1
    path = folder / "faulty.yaml"
    path.write_text(dump_definition(type(demo).model_validate(content)))
    process = subprocess.Popen(
        [*((*_ON_A_SMALL_DISK, str(work)) if _CAN_MOUNT else ()), PLIMSOLL, "run", str(path)],
        env={**os.environ, **EVEN_NODES, "PLIMSOLL_WORK": str(work), "PLIMSOLL_STORE": str(store)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return FaultyCampaign(work, store, process)


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[Path]:
    """Provide the folder by a path that stays good when its file system is mounted nowhere any more."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield Path(f"/proc/self/fd/{handle}")
    finally:
        os.close(handle)


def end(campaign: FaultyCampaign) -> None:
    """Kill whatever a failure has left."""
    campaign.process.kill()
    campaign.process.wait()
    for process, _ in tagged_processes(campaign.work):
        process.kill()


def test_it_says_which_cells_to_run_again(campaign: FaultyCampaign) -> None:
    assert campaign.process.returncode == 2
    assert f"run again: {', '.join(campaign.struck.values())}. " in "".join(campaign.said)


def test_a_node_that_is_killed_makes_the_attempt_invalid_by_its_signal(campaign: FaultyCampaign) -> None:
    [reason] = campaign.verdict(NODE).reasons
    assert reason.startswith("load: node1 ")
    assert "ended with signal 9" in reason
    assert "INFO" not in reason


def test_a_load_generator_that_is_killed_makes_the_attempt_invalid_and_leaves_its_records(
    campaign: FaultyCampaign,
) -> None:
    [reason] = campaign.verdict(LOAD_GENERATOR).reasons
    assert "left no summary" in reason
    assert "signal 9" in reason or "killed" in reason or "exit code 137" in reason
    [log] = campaign.store.glob(f"*/cells/{campaign.struck[LOAD_GENERATOR]}/*/raw/load/*.hdr-intended-mutations")
    assert len(log.read_text().splitlines()) > 10


@needs(_CAN_MOUNT, "mounting a small disk takes root")
def test_a_disk_that_fills_up_is_said_with_how_to_mend_it(campaign: FaultyCampaign) -> None:
    reason = " ".join(campaign.verdict(DISK).reasons)
    assert "its disk is full: free disk space" in reason or "No space left on device" in reason
