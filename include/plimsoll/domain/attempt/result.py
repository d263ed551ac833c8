"""The results of an attempt: intervals, verdict, and whether the measurement was sound; and a note on a campaign."""

from math import inf
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from plimsoll.domain.campaign.cell import AttemptKey, Cell
from plimsoll.domain.keys.action import ActionResult
from plimsoll.domain.keys.log_words import COORDINATED_OMISSION
from plimsoll.domain.keys.service_level import LevelVerdict, Percentiles
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.errors import LASTS

Outcome = Literal["met", "missed", "invalid"]
ValidOutcome = Literal["met", "missed"]

UNKNOWN = "nothing known"
"""The observation of a check that had nothing to look at."""

UNEVALUATED = "could not be evaluated"
"""The beginning of the observation of a check that could not be made at all."""


DISTURBED = "disturbed"
"""The name of the check that fails where noise of the machines explains every miss."""

_AS_DEFINED = frozenset({"database", "database version", "JVM", "JDK", "JVM flags", "collector", "heap"})
"""The names of checks of the software that ran, which every run of the definition finds alike."""


class Check(Model):
    """One expectation of the quality suite and its outcome.

    A check is not `tested` if there was nothing to look at; it is then no evidence for anything. In that case `success`
    says what the lack means for validity: false where the figure must be known, true where its lack does not matter.
    """

    name: str
    success: bool
    severity: Literal["invalid", "warning"] = "invalid"
    expected: str
    observed: str
    tested: Annotated[bool, Field(description="Whether there was anything to look at")] = True
    beyond: Annotated[
        LeftOutIfEmpty[float | None],
        Field(
            description="How many times its limit the worst value is; null where that is no number, or it is within it"
        ),
    ] = None
    beyond_any: Annotated[
        LeftOutIfEmpty[bool], Field(description="Whether the worst value is beyond any multiple of its limit")
    ] = False

    @property
    def result(self) -> Literal["passed", "failed", "warning", "not tested"]:
        if not self.tested:
            return "not tested"
        if self.success:
            return "passed"
        return "failed" if self.severity == "invalid" else "warning"

    @property
    def size(self) -> float:
        """Tell how bad a failed check is: how many times its limit was exceeded; without a limit, by its severity."""
        if self.beyond is not None:
            return self.beyond
        return inf if self.beyond_any or self.severity == "invalid" else 0.0

    @property
    def finding(self) -> str:
        """Return the observation, as a phrase that can follow the expectation."""
        return f"observed {self.observed}" if self.tested else f"not tested: {self.observed}"

    @property
    def sentence(self) -> str:
        """Return the check as the reasons and warnings of verdicts print it."""
        return f"{self.name}: expected {self.expected}, {self.finding}"


class OpeningBacklog(Model):
    """Operations that were due during warm-up and had no answer when the judged time began."""

    in_flight: Annotated[int, Field(ge=0, description="Sent, not yet answered")]
    unsent: Annotated[int, Field(ge=0, description="Due, not yet sent")]
    seconds: Annotated[float, Field(ge=0, description="Both over the attempted rate: how much time's load they are, s")]

    @property
    def operations(self) -> int:
        """Return the number of such operations, sent or not."""
        return self.in_flight + self.unsent


class Verdict(Model):
    """The judgement of an attempt.

    `valid` says whether the measurement was sound, `met` whether every service level was kept.
    """

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
    stopped: Annotated[
        LeftOutIfEmpty[str], Field(description="When and how a rule of `stop_when` ended the load, which is a miss")
    ] = ""
    rows_s: Annotated[
        LeftOutIfEmpty[float | None], Field(description="Rows read and written, rows/s, of operations with several")
    ] = None
    errors: Annotated[dict[str, int], Field(description="Failed operations by kind, judged time only")] = {}
    operations: int = 0
    maxima: Percentiles | None = None
    maxima_by_operation: dict[str, Percentiles] = {}
    started_at: Annotated[AwareDatetime | None, Field(description="Start of the timed run")] = None
    opening_backlog: Annotated[
        OpeningBacklog | None, Field(description="With what the judged time began; null where that is not known")
    ] = None
    action: LeftOutIfEmpty[ActionResult | None] = None
    checks: tuple[Check, ...] = ()
    code_version: str

    @property
    def valid_outcome(self) -> ValidOutcome | None:
        """Return the outcome that counts for strategies and capacities; None for an invalid attempt."""
        return None if self.outcome == "invalid" else self.outcome

    @property
    def invalidated_by(self) -> tuple[str, ...]:
        return tuple(check.name for check in self.checks if not check.success and check.severity == "invalid")

    @property
    def is_disturbed(self) -> bool:
        """Tell whether the attempt missed, and noise of the machines explains that, so that the cell must run again."""
        return DISTURBED in self.invalidated_by and not self.lasts

    @property
    def lasts(self) -> bool:
        """Tell whether the attempt is invalid for a reason that no further run mends: a person must change something.

        That is so where a reason says so, and where other software ran than the definition says.
        """
        # The name of a check may begin with that of a process, such as `datanode: JVM`
        differs = {check.name.rpartition(": ")[2] for check in self.checks if check.tested and not check.success}
        return any(LASTS in reason for reason in self.reasons) or not differs.isdisjoint(_AS_DEFINED)

    @property
    def may_omit(self) -> bool:
        """Tell whether its times may hide operations that were due in a stall, as its warnings say."""
        return any(COORDINATED_OMISSION in warning for warning in self.warnings)

    @property
    def measure(self) -> str:
        """Name what its times measure: response time from the intended start, or anything less."""
        return "service time" if self.may_omit else "response time"

    @property
    def worst_is_floor(self) -> bool:
        """Tell whether operations that failed decided an interval: the worst one is then the least that it can be."""
        return any(level.worst_is_floor for level in self.levels)

    @property
    def fell_short(self) -> bool:
        """Tell whether the attempt missed because its rate was not achieved."""
        return self.must_reach_rate and self.rate_achieved is False

    @property
    def outcome(self) -> Outcome:
        if not self.valid:
            return "invalid"
        return "met" if self.met else "missed"


class ManifestEntry(Model):
    """One stored file."""

    path: Annotated[str, Field(description="Relative to the attempt's prefix")]
    size_bytes: int
    sha256: str


class Manifest(Model):
    """The list of an attempt's stored files. Only an attempt with a manifest counts, so it is written last.

    `failure` says why a cell did not complete its run, if it did not.
    """

    key: AttemptKey
    files: tuple[ManifestEntry, ...]
    failure: str | None = None
    nodes_down: Annotated[
        tuple[str, ...], Field(description="A sentence for each node that no longer ran when its files were collected")
    ] = ()
    unseen: Annotated[
        LeftOutIfEmpty[tuple[str, ...]],
        Field(description="A sentence for each thing that is not known of machines that were looked at"),
    ] = ()
    written_at: AwareDatetime


class RawRemoval(Model):
    """The record that an attempt's raw files are removed, written before they are: when, by whom, and by which rule."""

    at: AwareDatetime
    by: str
    rule: Annotated[str, Field(description="In words, such as `older than 90 days`")]

    def __str__(self) -> str:
        return f"raw files were removed on {self.at:%Y-%m-%d %H:%M} UTC by retention ({self.rule})"


LONGEST_NOTE = 2_000


class Note(Model):
    """The text of a note, its author and its time."""

    text: Annotated[str, Field(min_length=1, max_length=LONGEST_NOTE)]
    by: str
    at: AwareDatetime
