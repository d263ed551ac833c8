"""A cell whose operation is timed beside its load: the list of steps has room for it (docs/contributing/adding.md)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import INSTANT, Faults, InstantLoadGenerator

from plimsoll.domain.result import Verdict
from plimsoll.ports.clock import Clock
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadRequest, LoadStatus
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.steps import steps
from plimsoll.services.steps.running import run_cell
from plimsoll.services.steps.steps import Polling, Step, step
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit

CELL = "v1-001k-r1"
BEGUN, ENDED = "operation-begun", "operation-ended"
LOOKS, PAUSE = 3, timedelta(seconds=7)
TOO_SHORT = "the load was over before the operation was"


class EndlessLoad(InstantLoadGenerator):
    """Runs until it is told to end."""

    def __init__(self, faults: Faults, clock: Clock) -> None:
        super().__init__(faults)
        self._clock = clock
        self.began: datetime | None = None
        self.ended: datetime | None = None

    def start(self, host: Host, request: LoadRequest) -> None:
        super().start(host, request)
        self.began = self.began or self._clock.now()

    def end(self) -> None:
        self.ended = self._clock.now()

    def status(self, host: Host, job_id: str) -> LoadStatus:
        is_running = self.began is not None and self.ended is None
        return LoadStatus("running", "load", errors=0) if is_running else super().status(host, job_id)


class Operation:
    """Is over at the last of its looks. Its times are on record. Each look at it is one at the load, too."""

    def __init__(self, load: Polling) -> None:
        self._load = load
        self._looks: Iterator[int] = iter(range(1, LOOKS + 1))
        self.load_seen: list[tuple[datetime, str]] = []

    def begin(self, work: AttemptContext) -> None:
        _note(work, BEGUN)

    def look(self, work: AttemptContext) -> LoadStatus:
        load = self._load.look(work)
        self.load_seen.append((work.toolkit.clock.now(), load.state))
        if load.state != "running":
            return LoadStatus("failed", reason=TOO_SHORT)
        if next(self._looks) < LOOKS:
            return LoadStatus("running")
        _note(work, ENDED)
        return LoadStatus("complete")


def _note(work: AttemptContext, what: str) -> None:
    work.toolkit.store.create(layout.attempt_file(work.key, what), work.toolkit.clock.now().isoformat().encode())


@dataclass
class Site:
    """A campaign whose cells have a load and an operation beside it."""

    toolkit: Toolkit
    campaign: CampaignStore
    clock: SteppingClock
    load: EndlessLoad
    operation: Operation

    def run(self) -> Verdict:
        toolkit = replace(self.toolkit, clock=self.clock, load_generators={INSTANT: self.load})
        return run_cell(toolkit, "campaign", CELL, "me", print)

    def noted(self, what: str) -> datetime:
        noted = self.toolkit.store.read(layout.attempt_file(self.campaign.key(CELL, 1), what))
        return datetime.fromisoformat(noted.decode())


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """The load is begun, the operation runs, the load is told to end, and its end is awaited."""
    installation, clock = Installation(tmp_path), SteppingClock()
    load, loading = EndlessLoad(installation.faults, clock), step("load")
    assert loading.polling is not None
    operation, polling = Operation(loading.polling), replace(loading.polling, pause_s=lambda _: PAUSE.total_seconds())
    operate = Step(
        name="operate",
        purpose="The operation is over; its begin and its end are on record.",
        role="measure",
        run=operation.begin,
        timeout=timedelta(minutes=1),
        share=0.0,
        polling=replace(polling, look=operation.look),
    )
    end_load = replace(operate, name="load-end", run=lambda _: load.end(), polling=polling)
    at = steps.STEPS.index(loading)
    changed = (*steps.STEPS[:at], replace(loading, polling=None), operate, end_load, *steps.STEPS[at + 1 :])
    monkeypatch.setattr(steps, "STEPS", changed)
    return Site(installation.toolkit, installation.open_campaign(instant_definition()), clock, load, operation)


def test_an_operation_runs_beside_the_load_and_its_duration_follows_from_the_record(site: Site) -> None:
    verdict = site.run()

    assert verdict.valid, verdict.reasons
    begun, ended = site.noted(BEGUN), site.noted(ENDED)
    assert ended - begun == PAUSE * (LOOKS - 1)
    assert site.operation.load_seen == [(begun + PAUSE * n, "running") for n in range(LOOKS)]
    assert site.load.began is not None
    assert site.load.ended is not None
    assert site.load.began <= begun < ended <= site.load.ended


def test_a_load_that_is_over_before_the_operation_makes_the_attempt_invalid(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site.clock, "sleep", lambda _: site.load.end())

    verdict = site.run()

    assert not verdict.valid
    assert any(TOO_SHORT in reason for reason in verdict.reasons), verdict.reasons
    assert [state for _, state in site.operation.load_seen] == ["running", "complete"]
