"""Polling a load: who is asked what."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import INSTANT, Faults, InstantLoadGenerator, InstantProduct, InstantProvider

from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.hosts.cluster import Cluster, ClusterRequest
from plimsoll.domain.text.errors import DeployError
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadRequest, LoadStatus
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.retries import report_waiting
from plimsoll.services.store import layout

RUNNING = LoadStatus("running", "load", achieved_ops_s=1000.0, errors=0)
Poll = Callable[[LoadStatus], tuple[LoadStatus, int]]


class Says(InstantLoadGenerator):
    """A load generator that says what it is told to."""

    def __init__(self, status: LoadStatus) -> None:
        self.said = status

    def status(self, host: Host, job_id: str) -> LoadStatus:
        return self.said


class Fallen(InstantProduct):
    """A database one of whose nodes is down."""

    def __init__(self) -> None:
        self.asked = 0

    def down(self, nodes: Sequence[Host]) -> Sequence[str]:
        self.asked += 1
        return [f"{nodes[0].info.name} was killed"]


@pytest.fixture
def poll(tmp_path: Path) -> Poll:
    """Provide the poll's answer, and how often nodes were asked, where the load generator says that."""
    installation = Installation(tmp_path)
    installation.open_campaign(instant_definition())
    work = begin(installation.toolkit, "campaign", "v1-001k-r1", "owner")
    actions.provision(work)

    def polled(status: LoadStatus) -> tuple[LoadStatus, int]:
        product = Fallen()
        toolkit = replace(work.toolkit, products={INSTANT: product}, load_generators={INSTANT: Says(status)})
        return loading.poll_load(AttemptContext(toolkit, work.key)), product.asked

    return polled


class Full(InstantProvider):
    """Has no room at first, and says so."""

    def __init__(self, work: Path, shown: Callable[[], None]) -> None:
        super().__init__(work, Faults(work / "faults"))
        self._shown = shown

    def ensure(self, request: ClusterRequest) -> Cluster:
        report_waiting("no room in us-east-1a: waiting for room since 4 of at most 30 minutes")
        self._shown()
        return super().ensure(request)


def test_what_a_provider_waits_for_shows_in_the_cells_progress_while_it_waits(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    installation = Installation(tmp_path)
    installation.open_campaign(instant_definition())
    shown: list[str] = []

    def look() -> None:
        progress = layout.PROGRESS.read(installation.toolkit.store, work.key)
        shown.append(progress.note if progress else "")

    toolkit = replace(installation.toolkit, providers={INSTANT: Full(tmp_path / "work", look)})
    work = begin(toolkit, "campaign", "v1-001k-r1", "owner")
    with caplog.at_level("INFO", "plimsoll"):
        actions.provision(work)
        loading.start_load(work)

    said = "no room in us-east-1a: waiting for room since 4 of at most 30 minutes"
    assert shown == [said]
    assert said in caplog.messages
    look()
    assert shown[1] == ""


def test_a_load_that_fails_no_operation_speaks_for_the_nodes(poll: Poll) -> None:
    assert poll(RUNNING) == (RUNNING, 0)


@pytest.mark.parametrize(
    "status",
    [
        replace(RUNNING, errors=1),
        replace(RUNNING, errors=None),
        LoadStatus("failed", "load", reason="no answer for 60 s", errors=None),
        LoadStatus("complete", "load"),
    ],
)
def test_otherwise_they_are_asked_and_one_that_is_down_is_the_reason(poll: Poll, status: LoadStatus) -> None:
    failed, asked = poll(status)
    assert (failed.state, failed.phase, failed.reason) == ("failed", "load", "node1 was killed")
    assert asked == 1


class Recording(InstantLoadGenerator):
    """A load generator that keeps the seeds that it was given."""

    def __init__(self) -> None:
        self.seeds: list[int] = []

    def start(self, host: Host, request: LoadRequest) -> None:
        self.seeds.append(request.seed)


def test_each_repeat_and_each_attempt_draws_from_a_seed_of_its_own(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    installation.open_campaign(instant_definition(repeats=2))
    generator = Recording()
    toolkit = replace(installation.toolkit, load_generators={INSTANT: generator})
    for cell_id in ("v1-001k-r1", "v1-001k-r1", "v1-001k-r2", "v2-001k-r1"):
        work = begin(toolkit, "campaign", cell_id, "owner")
        actions.provision(work)
        loading.start_load(work)
    first, again, second, other_variant = generator.seeds
    assert len({first, again, second}) == 3
    assert other_variant == first, "variants are asked the same"


class Unready(InstantLoadGenerator):
    """Not on its host."""

    def unready(self, host: Host, spec: LoadSpec) -> str:
        return "latte is not on this host"


def test_a_load_host_that_lacks_the_generator_fails_before_the_database_is_started(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    installation.open_campaign(instant_definition())
    work = begin(installation.toolkit, "campaign", "v1-001k-r1", "owner")
    actions.provision(work)
    # A database that must not be asked for anything.
    toolkit = replace(work.toolkit, products={}, load_generators={INSTANT: Unready(Faults(tmp_path / "faults"))})
    with pytest.raises(DeployError, match="latte is not on this host"):
        actions.deploy(AttemptContext(toolkit, work.key))
