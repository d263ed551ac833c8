"""Results of an attempt: intervals, verdict, and whether the measurement was sound."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from plimsoll.domain.base import Model
from plimsoll.domain.cell import AttemptKey, Cell
from plimsoll.domain.service_level import ServiceLevel

Outcome = Literal["met", "missed", "invalid"]


class Percentiles(Model):
    """Response times in ms; None where nothing was counted."""

    p50_ms: float | None
    p90_ms: float | None
    p99_ms: float | None
    p99_9_ms: float | None
    max_ms: float | None


class Interval(Percentiles):
    """One window of merged histograms."""

    start_s: Annotated[float, Field(description="From the log's start, s")]
    duration_s: float
    count: int
    rate_ops_s: float
    met: bool | None
    judged_ms: Annotated[float | None, Field(description="The service level's own percentile, ms")] = None


class LevelVerdict(Model):
    """One service level over one attempt's judged intervals."""

    service_level: ServiceLevel
    met: bool
    judged: int
    missed: int
    not_judged: Annotated[int, Field(description="Intervals cut off at the end")]
    worst_ms: float | None


class Check(Model):
    """One expectation of the quality suite and what was found."""

    name: str
    success: bool
    severity: Literal["invalid", "warning"] = "invalid"
    expected: str
    observed: str


class OpeningBacklog(Model):
    """What warm-up left to the judged time: operations that were due in it and had no answer at its end."""

    in_flight: Annotated[int, Field(ge=0, description="Sent, not yet answered")]
    unsent: Annotated[int, Field(ge=0, description="Due, not yet sent")]
    seconds: Annotated[float, Field(ge=0, description="Both over the attempted rate: how much time's load they are, s")]

    @property
    def operations(self) -> int:
        """Sent or not, all that were due and had no answer."""
        return self.in_flight + self.unsent


class Verdict(Model):
    """An attempt judged. `valid` asks whether the measurement was sound; `met` whether every service level was kept."""

    key: AttemptKey
    cell: Cell
    valid: bool
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    met: bool | None
    levels: tuple[LevelVerdict, ...] = ()
    attempted_ops_s: float
    achieved_ops_s: float | None
    rate_achieved: bool | None
    errors: Annotated[dict[str, int], Field(description="Failed operations by kind, judged time only")] = {}
    operations: int = 0
    maxima: Percentiles | None = None
    maxima_by_operation: dict[str, Percentiles] = {}
    started_at: Annotated[AwareDatetime | None, Field(description="Start of the timed run")] = None
    opening_backlog: Annotated[
        OpeningBacklog | None, Field(description="With what the judged time began; null where that is not known")
    ] = None
    checks: tuple[Check, ...] = ()
    code_version: str

    @property
    def outcome(self) -> Outcome:
        """The three-valued answer."""
        if not self.valid:
            return "invalid"
        return "met" if self.met else "missed"


class ManifestEntry(Model):
    """One stored file."""

    path: Annotated[str, Field(description="Relative to the attempt's prefix")]
    size_bytes: int
    sha256: str


class Manifest(Model):
    """Written last: makes an attempt count. `failure` says why a cell did not complete its run, if so."""

    key: AttemptKey
    files: tuple[ManifestEntry, ...]
    failure: str | None = None
    nodes_down: Annotated[
        tuple[str, ...], Field(description="A sentence for each node that no longer ran when its files were collected")
    ] = ()
    written_at: AwareDatetime
