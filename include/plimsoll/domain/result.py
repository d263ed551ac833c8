"""Results of an attempt: intervals, verdict, and whether the measurement was sound."""

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field, field_validator, model_validator

from plimsoll.domain.base import LeftOutIfEmpty, Model
from plimsoll.domain.cell import AttemptKey, Cell
from plimsoll.domain.service_level import ServiceLevel

Outcome = Literal["met", "missed", "invalid"]
"""Of an attempt."""
ValidOutcome = Literal["met", "missed"]
"""Of a valid attempt."""

UNKNOWN = "nothing known"
"""What a check observed that had nothing to look at."""

UNEVALUATED = "could not be evaluated"
"""How it begins what a check observed that could not be made at all."""


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
    """One expectation of the quality suite and what was found.

    A check that was not `tested`, for there was nothing to look at, is no evidence for anything. Its `success` says
    what it does to validity: false where the figure must be known, true where its lack counts for nothing.
    """

    name: str
    success: bool
    severity: Literal["invalid", "warning"] = "invalid"
    expected: str
    observed: str
    tested: Annotated[bool, Field(description="Whether there was anything to look at")] = True

    @model_validator(mode="before")
    @classmethod
    def _told_by_older_versions(cls, data: Any) -> Any:
        """They did not store whether a check was tested, only what it observed."""
        if isinstance(data, dict) and "tested" not in data:
            observed = str(data.get("observed", ""))
            return {**data, "tested": observed not in (UNKNOWN, "all 0 rows") and not observed.startswith(UNEVALUATED)}
        return data

    @property
    def result(self) -> Literal["passed", "failed", "warning", "not tested"]:
        """The outcome in a word or two."""
        if not self.tested:
            return "not tested"
        if self.success:
            return "passed"
        return "failed" if self.severity == "invalid" else "warning"

    @property
    def finding(self) -> str:
        """What was found, as a phrase that follows what was expected."""
        return f"observed {self.observed}" if self.tested else f"not tested: {self.observed}"

    @property
    def sentence(self) -> str:
        """As reasons and warnings of verdicts tell it."""
        return f"{self.name}: expected {self.expected}, {self.finding}"


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
    must_reach_rate: Annotated[
        LeftOutIfEmpty[bool], Field(description="Of a ramp: a rate that was not achieved is a miss")
    ] = False
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

    @field_validator("reasons", "warnings", mode="after")
    @classmethod
    def _told_by_older_versions(cls, sentences: tuple[str, ...]) -> tuple[str, ...]:
        """They called it an observation that nothing was known."""
        old, new = f", observed {UNKNOWN}", f", not tested: {UNKNOWN}"
        return tuple(one.removesuffix(old) + new if one.endswith(old) else one for one in sentences)

    @property
    def valid_outcome(self) -> ValidOutcome | None:
        """The outcome that counts for strategies and capacities; None of an invalid attempt."""
        return None if self.outcome == "invalid" else self.outcome

    @property
    def fell_short(self) -> bool:
        """Whether it missed because its rate was not achieved."""
        return self.must_reach_rate and self.rate_achieved is False

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
