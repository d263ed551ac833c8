"""One cell in full: every attempt with its phases, verdict, quality, environment and files."""

from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import zip_longest
from typing import Annotated

from fastapi import Depends
from pydantic import AwareDatetime, Field

from plimsoll.analysis.campaign.cell_results import AttemptData
from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.attempt.status import AttemptProgress, CellStatus
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import Cluster
from plimsoll.domain.hosts.fingerprint import Fingerprint
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import NotFound
from plimsoll.ports.store import ResultStore
from plimsoll.services.campaign.show.status import cell_status, time_left_in
from plimsoll.services.campaign.state.reading import CellState, read_state, require_cell_state
from plimsoll.services.cell.attempt_state import AttemptState
from plimsoll.services.publish.results import attempt_data
from plimsoll.services.store import layout
from plimsoll.strategies.state import CampaignState
from plimsoll_airflow.runs.installation import find_installation
from plimsoll_airflow.runs.ownership import CellRun
from plimsoll_airflow.web.access import AttemptNumber, CellId
from plimsoll_airflow.web.content import attempt_file_names
from plimsoll_airflow.web.library import library
from plimsoll_airflow.web.visits import Visit, Visited


class PhaseTime(Model):
    """A phase of an attempt, with its start."""

    phase: str
    began: AwareDatetime
    seconds: Annotated[float | None, Field(description="Until the next one began; none of the last")]


class AttemptStatus(Model):
    """One attempt."""

    attempt: int
    state: Annotated[str, Field(description="met, missed, invalid, failed or running")]
    run_id: Annotated[str | None, Field(description="Its run of the DAG `cell`; none of attempts of others")]
    code_version: str | None
    phases: tuple[PhaseTime, ...]
    ended: Annotated[str, Field(description="Why it will never be judged, if so")]
    verdict: Verdict | None


class CellDocument(Model):
    """A cell with all its attempts, oldest first."""

    campaign_id: str
    status: CellStatus
    attempts: tuple[AttemptStatus, ...]


class AttemptDocument(AttemptStatus):
    """One attempt with its environment and files."""

    cluster: Cluster | None
    fingerprint: Fingerprint | None
    files: Annotated[dict[str, int | None], Field(description="Name → size in bytes where the manifest gives it")]


def cell_document(visit: Visit, cell_id: str) -> CellDocument:
    """Return the cell's document. Raises NotFound when the campaign has no such cell."""
    campaign_state = _state(visit)
    state = require_cell_state(campaign_state, cell_id, visit.campaign_id)
    over = time_left_in(visit.campaign, campaign_state, library().clock.now()).over
    here = find_installation()
    return CellDocument(
        campaign_id=visit.campaign_id,
        status=cell_status(state, visit.resolved, over.get(cell_id, 0.0)),
        attempts=tuple(AttemptStatus.model_validate(_facts(attempt, here)) for attempt in state.attempts),
    )


def live_progress(visit: Visit, cell_id: str) -> AttemptProgress | None:
    """Return the progress of the cell's running attempt; None if none runs. Raises NotFound for an unknown cell."""
    newest = require_cell_state(_state(visit), cell_id, visit.campaign_id).newest
    return newest.progress if newest and newest.is_running else None


def attempt_document(visit: Visit, cell_id: str, number: int) -> AttemptDocument:
    """Return the attempt's document. Raises NotFound when the cell has no such attempt."""
    state = require_cell_state(_state(visit), cell_id, visit.campaign_id)
    wanted = next((attempt for attempt in state.attempts if attempt.key.attempt == number), None)
    if wanted is None:
        numbers = ", ".join(str(attempt.key.attempt) for attempt in state.attempts) or "none was begun"
        raise NotFound(
            f"there is no attempt {number}", where=f"{visit.campaign_id}/{cell_id}", mend=f"there are: {numbers}"
        )
    return AttemptDocument.model_validate(
        {
            **_facts(wanted, find_installation()),
            "cluster": layout.CLUSTER.read(visit.store, wanted.key),
            "fingerprint": layout.FINGERPRINT.read(visit.store, wanted.key),
            "files": attempt_file_names(visit.store, wanted.key),
        }
    )


def phases_of(state: AttemptState) -> tuple[PhaseTime, ...]:
    """Return the attempt's phases in order of time."""
    progress = state.progress
    begun = sorted(progress.phases.items(), key=lambda item: item[1]) if progress else []
    ends = [began for _, began in begun[1:]]
    return tuple(
        PhaseTime(phase=phase, began=began, seconds=round((end - began).total_seconds(), 3) if end else None)
        for (phase, began), end in zip_longest(begun, ends)
        if phase != "done"
    )


@dataclass(frozen=True)
class Drawing:
    """The data for a chart of a judged attempt.

    Drawings of the same verdict under the same definition are equal: judging again stores another verdict where it
    finds anything else, and by another version of the code in any case.
    """

    store: ResultStore
    definition: Definition
    verdict: Verdict
    now: datetime = field(compare=False)

    def __hash__(self) -> int:
        return hash(str(self.verdict.key))

    @property
    def data(self) -> AttemptData:
        return attempt_data(self.store, self.verdict)


@lru_cache(maxsize=64)
def timeline(drawing: Drawing) -> bytes:
    from plimsoll.report.build import cell_timeline

    return cell_timeline(drawing.definition, drawing.data, drawing.now).encode()


@lru_cache(maxsize=8)
def charts(drawing: Drawing) -> bytes:
    from plimsoll.report.build import attempt_page

    return attempt_page(drawing.definition, drawing.data, drawing.now).encode()


def drawing_of(visit: Visited, cell_id: CellId, attempt: AttemptNumber) -> Drawing:
    """Return the data for an attempt's charts. Raises NotFound while it is not judged."""
    key = visit.campaign.key(cell_id, attempt)
    verdict = layout.VERDICT.read(visit.store, key)
    if verdict is None or not verdict.levels:
        raise NotFound("there are no judged intervals", where=str(key))
    return Drawing(visit.store, visit.campaign.declared(), verdict, library().clock.now())


Drawn = Annotated[Drawing, Depends(drawing_of)]


def _state(visit: Visit) -> CampaignState[CellState]:
    return read_state(visit.store, visit.campaign_id, visit.resolved, library().clock.now(), library().memory)


def _facts(state: AttemptState, here: str) -> dict[str, object]:
    run = CellRun.of(state.attempt.owner, here) if state.attempt else None
    return {
        "attempt": state.key.attempt,
        "state": state.verdict.outcome if state.verdict else "failed" if state.ended else "running",
        "run_id": run.run_id if run else None,
        "code_version": state.attempt.code_version if state.attempt else None,
        "phases": phases_of(state),
        "ended": state.ended,
        "verdict": state.verdict,
    }
