"""The steps of a cell, declared once, in the order in which they run.

The tasks of the DAG `cell`, `plimsoll run`, progress, the time left, the life of hosts, the time after which attempts
and runs count as lost, the pages and the clean-up are derived from this list. To add a step, add an entry here and its
phases in `domain.attempt.status.Phase`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.attempt.status import AttemptProgress, Phase
from plimsoll.domain.campaign.part import Part
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.ports.provider import TIME_TO_DESTROY, TIME_TO_PROVISION
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.collect import collect
from plimsoll.services.cell.context import AttemptContext

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
