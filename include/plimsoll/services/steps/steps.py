"""The steps of a cell, declared once, in the order in which they run.

The tasks of the DAG `cell`, `plimsoll run`, progress, the time left, the life of hosts, the time after which attempts
and runs count as lost, the pages and the clean-up are derived from this list. To add a step, add an entry here and its
phases in `domain.attempt.status.Phase`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Literal

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.attempt.status import AttemptProgress, Phase
from plimsoll.domain.campaign.part import Part
from plimsoll.domain.text.errors import DamagedRecord, PlimsollError
from plimsoll.domain.text.units import format_duration
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.ports.provider import TIME_TO_DESTROY, TIME_TO_PROVISION
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.collect import collect
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.store import layout

OUT_OF_REACH = timedelta(minutes=5)
"""The time for which a load may go unobserved (a lost connection, say) before it counts as failed."""
OVERTIME = timedelta(minutes=10)
"""The time that a load may take beyond its declared time, for its start and its end."""
_CEILING_EVERY = timedelta(minutes=1)
"""The time between two looks at the campaign's cost, each of which reads the store."""

Role = Literal["measure", "keep", "clean-up", "judge"]
"""The purpose of a step, which decides when it runs.

- measure: once the step before it has succeeded. Its failure ends the measuring; the verdict has the reason.
- keep: after the last measuring step that ran, whether that failed or not.
- clean-up: after keeping, in any case. The reaper and the cell's next attempt find what it leaves.
- judge: once everything is kept.
"""


@dataclass(frozen=True)
class Polling:
    """The way to wait for the end of what a step has started, where that runs by itself on the hosts."""

    look: Callable[[AttemptContext], LoadStatus]
    require: Callable[[AttemptContext, LoadStatus], None]
    """Raises the error that a status which is not `complete` amounts to."""
    stop: Callable[[AttemptContext], None]
    """Ends what the step has started, so that its files are whole. Ending what has ended is no error."""
    pause_s: Callable[[Part], float]
    """The pause between two looks, s."""
    longest: Callable[[Part], timedelta]
    """The time that what the step has started may last before it is given up."""


@dataclass(frozen=True)
class Step:
    """One step: its name, its action, its time limit, and its share of an attempt's time."""

    name: str
    """The step's name, which is also the id of its task in Airflow and stands in the reasons of failures."""
    purpose: str
    role: Role
    run: Callable[[AttemptContext], object]
    """The action. It is idempotent: run again, it finds what is there and goes on."""
    timeout: timedelta
    """The time limit of `run`; what it starts is bounded by `polling.longest`."""
    share: float
    """The step's share of an attempt's progress; all steps together are 1."""
    takes: timedelta = timedelta(0)
    """The usual duration; of the load, its time beyond its declared duration."""
    phases: tuple[Phase, ...] = ()
    """The phases of progress while the step runs, in order."""
    polling: Polling | None = None
    """The way to wait for its end; None: the step is over when `run` returns."""

    def longest(self, part: Part) -> timedelta:
        """Return the time after which the step is given up, with whatever it starts."""
        return self.timeout + (self.polling.longest(part) if self.polling else timedelta(0))


def load_pause_s(part: Part) -> float:
    """Return the pause between two looks at a load, s: short for a short load, longer where looking costs much.

    An action goes on at every look, so it is short with one.
    """
    return 1.0 if part.action else min(10.0, max(1.0, part.timing.duration.total_seconds() / 40))


def _judge(work: AttemptContext) -> Verdict:
    from plimsoll.services.judge.attempt_judging import judge  # what it needs takes seconds to import

    return judge(work)


# Names must stay as they are: runs of earlier versions have them as ids of tasks in Airflow
STEPS: tuple[Step, ...] = (
    Step(
        name="provision",
        purpose="The attempt's hosts exist and answer.",
        role="measure",
        run=actions.provision,
        timeout=TIME_TO_PROVISION,
        share=0.02,
        takes=timedelta(seconds=5),
        phases=("provision",),
    ),
    Step(
        name="deploy",
        purpose="The database is up on all nodes; what really runs is read back from them.",
        role="measure",
        run=actions.deploy,
        # Up to half of it may be `wait_for_calm`
        timeout=timedelta(hours=1),
        share=0.03,
        takes=timedelta(seconds=30),
        phases=("deploy",),
    ),
    Step(
        name="load",
        purpose="Rows are written, then the load runs: first its warm-up, then the judged time.",
        role="measure",
        run=loading.start_load,
        # Up to 20 minutes of it may go into counting how many rows make `data_per_node`
        timeout=timedelta(minutes=30),
        share=0.92,
        phases=("populate", "warm-up", "load"),
        polling=Polling(
            look=loading.poll_load,
            require=loading.require_complete,
            stop=loading.stop_load,
            pause_s=load_pause_s,
            longest=lambda part: part.timing.duration + part.timing.longest_populating,
        ),
    ),
    Step(
        name="collect",
        purpose="Everything worth keeping goes to the result store, whatever happened before.",
        role="keep",
        run=collect,
        timeout=timedelta(hours=1),
        share=0.01,
        takes=timedelta(seconds=5),
        phases=("collect",),
    ),
    Step(
        name="destroy",
        purpose="Nothing of the attempt's cluster is left, which is verified; what it has cost is on record.",
        role="clean-up",
        run=actions.destroy,
        timeout=TIME_TO_DESTROY,
        share=0.0,
    ),
    Step(
        name="judge",
        purpose="Was the measurement sound, and if so, was the service level met?",
        role="judge",
        run=_judge,
        timeout=timedelta(hours=1),
        share=0.02,
        takes=timedelta(seconds=5),
        phases=("judge",),
    ),
)


def step(name: str) -> Step:
    """Return the step with that name. Raises KeyError where there is none."""
    return {known.name: known for known in STEPS}[name]


def steps_of(role: Role) -> tuple[Step, ...]:
    """Return the steps with that purpose, in order."""
    return tuple(known for known in STEPS if known.role == role)


def step_in(phase: Phase) -> Step | None:
    """Return the step of a phase of progress; None while an attempt waits, and when it is done."""
    return next((known for known in STEPS if phase in known.phases), None)


def share_done(progress: AttemptProgress, part: Part) -> float:
    """Return the completed share of the attempt, 0 to 1: all earlier steps, and the load's share of time."""
    current = step_in(progress.phase)
    if current is None:
        return 1.0 if progress.phase == "done" else 0.0
    before = sum(known.share for known in STEPS[: STEPS.index(current)])
    within = _share_of_load(progress, part) if current.polling else 0.0
    return round(before + current.share * within, 6)


def usual_phases(part: Part) -> dict[str, float]:
    """Return how long each phase of a cell usually takes, in order, s, until the campaign's own cells give better
    figures. Nobody knows beforehand how long rows take to be written.
    """
    timing = part.timing
    load = {"populate": 0.0, "warm-up": timing.warmup.total_seconds(), "load": timing.judged.total_seconds()}
    return {
        phase: load.get(phase, known.takes.total_seconds() / len(known.phases))
        for known in STEPS
        for phase in known.phases
    }


def _share_of_load(progress: AttemptProgress, part: Part) -> float:
    duration = part.timing.duration
    left = duration if progress.seconds_left is None else timedelta(seconds=progress.seconds_left)
    return min(1.0, max(0.0, 1 - left / duration))


@dataclass
class LoadPoller:
    """A poller of one load, which gives the load up when it takes longer than it may.

    The connection may fail meanwhile: the load runs detached and does not need it.
    All its state is in the store and on the hosts, except the time of the last look, and `since`: when the load began.
    """

    work: AttemptContext
    polling: Polling
    since: datetime | None = None
    """The time from which on the load counts as unobserved; None: now."""
    _seen: datetime = field(init=False)
    _below: datetime | None = field(init=False, default=None)
    """When the attempt was last seen to keep the ceiling."""

    def __post_init__(self) -> None:
        self._seen = self.work.toolkit.clock.now()
        self.since = self.since or self._seen

    def look(self) -> LoadStatus | str:
        """Return the load's status, or the reason why it can't be read at the moment, as long as that is acceptable."""
        try:
            status = self.polling.look(self.work)
            late = self._why_late(status) if status.state == "running" else ""
        except DamagedRecord:  # which waiting does not mend
            raise
        except PlimsollError as error:
            if self.work.toolkit.clock.now() - self._seen > OUT_OF_REACH:
                return LoadStatus("failed", reason=f"out of reach for {OUT_OF_REACH}: {error}")
            return f"the load can't be observed now, it goes on: {error}"
        self._seen = self.work.toolkit.clock.now()
        return LoadStatus("failed", status.phase, reason=late) if late else status

    def _why_late(self, status: LoadStatus) -> str:
        """Explain why a running load is given up; empty where it may go on."""
        now, timing = self.work.toolkit.clock.now(), self.work.part.timing
        lasted = now - (self.since or now)
        if self._below is None or now - self._below >= _CEILING_EVERY:
            if over := loading.why_over(self.work):
                return over
            self._below = now
        if status.phase != "populate":
            longest = self.polling.longest(self.work.part) + OVERTIME
            return f"it took longer than {format_duration(longest)}" if lasted > longest else ""
        if lasted > timing.longest_populating:
            mend = "a new campaign that writes a longer `timing.populating` gives it more time"
            return f"populating took longer than {format_duration(timing.longest_populating)}: {mend}"
        if self._hosts_end is not None and now + timing.duration > self._hosts_end:
            return f"populating took so long that the hosts would end before the load, at {self._hosts_end:%H:%M} UTC"
        return ""

    @cached_property
    def _hosts_end(self) -> datetime | None:
        """Tell when the attempt's hosts end themselves; None where that is not on record."""
        cluster = layout.CLUSTER.read(self.work.store, self.work.key)
        return cluster.expires_at if cluster else None
