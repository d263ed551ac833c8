"""An action: something that is done to a running cluster at a moment of a load, and timed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from plimsoll.domain.keys.service_level import ServiceLevel
from plimsoll.domain.keys.timing import Timing
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import Duration, PositiveDuration, format_duration
from plimsoll.domain.text.wording import plural

ActionName = Literal["compact", "repair", "restart", "kill-node", "decommission", "add-node", "replace-node"]
TAKES_NODES: frozenset[ActionName] = frozenset({"kill-node", "replace-node", "decommission"})
"""Actions that end nodes, the last ones of the list, of which one must be left."""
OF_ALL_NODES: frozenset[ActionName] = frozenset({"compact", "restart"})
"""Actions that are done to every node unless a `count` says otherwise, to the first ones of the list."""
_NEEDS_SPARES: frozenset[ActionName] = frozenset({"add-node", "replace-node"})
_CONDITIONS: Mapping[ActionName, tuple[str, str]] = {
    "compact": ("while a node compacts", "while {} nodes compact"),
    "repair": ("while a node is repaired", "while {} nodes are repaired"),
    "restart": ("while a node restarts", "while {} nodes restart"),
    "kill-node": ("with one node down", "with {} nodes down"),
    "decommission": ("while a node leaves", "while {} nodes leave"),
    "add-node": ("while a node joins", "while {} nodes join"),
    "replace-node": ("while a node is replaced", "while {} nodes are replaced"),
}
"""The condition of a cluster in which it is done to one node, or to several."""


class Action(Model):
    """Something that is done once to the cluster of every cell, and timed."""

    name: Annotated[
        ActionName,
        Field(
            description="`compact`: a major compaction; `repair`: a full repair; `decommission`: nodes hand over what "
            "they have, and leave; `replace-node`: a node is killed and a new one takes its place"
        ),
    ]
    count: Annotated[
        LeftOutIfEmpty[int | None],
        Field(
            ge=1, le=100, description="Number of nodes. Without it: every node for `compact` and `restart`, else one"
        ),
    ] = None
    at: Annotated[
        LeftOutIfEmpty[Duration | None],
        Field(description="When it begins, from the start of the timed run; by default at the end of warm-up"),
    ] = None
    before_load: Annotated[
        LeftOutIfEmpty[bool], Field(description="Whether it is done before warm-up, and the load begins once it ended")
    ] = False
    down_for: Annotated[
        LeftOutIfEmpty[PositiveDuration | None],
        Field(description="For `kill-node`: how long until a node starts again. Without it the node stays down"),
    ] = None

    @property
    def loses_nodes(self) -> bool:
        """Tell whether a node is gone for good, or until a new one has taken its place."""
        return self.name == "replace-node" or (self.name == "kill-node" and not self.down_for)

    @property
    def rank(self) -> tuple[int, int]:
        """Return the order among conditions of a cluster that lost nodes, from the one that carries the most.

        Beside a node that is down, replacing it takes the others' time.
        """
        return self.count or 1, int(self.name == "replace-node")

    @property
    def spares(self) -> int:
        """Return the number of hosts that stay empty until the action puts a new node on them."""
        return (self.count or 1) if self.name in _NEEDS_SPARES else 0

    def changes(self, nodes: Sequence[str]) -> tuple[str, ...]:
        """Return which of all `nodes` the action is done to, in their order; none where only new ones come."""
        if self.name in TAKES_NODES:
            return tuple(nodes[-(self.count or 1) :])
        default = len(nodes) if self.name in OF_ALL_NODES else 1
        return () if self.name == "add-node" else tuple(nodes[: self.count or default])

    def takes_down(self, nodes: Sequence[str]) -> tuple[str, ...]:
        """Return which of all `nodes` may be down because of the action, in their order."""
        return self.changes(nodes) if self.name == "restart" or self.name in TAKES_NODES else ()

    def without_defaults(self, timing: Timing, nodes: int) -> "Action":
        """Return the same action of a cluster of that many `nodes` without the keys that say what it does anyway."""
        count = None if self.count == (nodes if self.name in OF_ALL_NODES else 1) else self.count
        return self.model_copy(update={"count": count, "at": None if self.at == timing.warmup else self.at})

    def begins(self, timing: Timing) -> timedelta:
        """Return when the action begins, from the start of the timed run; zero if it is done before that."""
        return timedelta(0) if self.before_load else timing.warmup if self.at is None else self.at

    @property
    def condition(self) -> str:
        """Return the cluster's condition meanwhile, in words: `with one node down`."""
        if self.down_for:
            return "while a node is down and comes back"
        one, several = _CONDITIONS[self.name]
        of_all = self.count is None and self.name in OF_ALL_NODES
        return several.format(self.count or "all") if of_all or (self.count or 1) > 1 else one

    def __str__(self) -> str:
        nodes = f" of {plural(self.count, 'node')}" if self.count else ""
        return f"{self.name}{nodes}"

    def sentence(self, timing: Timing) -> str:
        """Return the action with its moment: `compact, 30s after the start of the load`."""
        if self.before_load:
            return f"{self}, before the load begins"
        return f"{self}, {format_duration(self.begins(timing))} after the start of the load"


class ActionBegin(Model):
    """The record that an action begins, written before anything is done."""

    action: Action
    at: Annotated[AwareDatetime, Field(description="By the controller's clock")]
    hosts: Annotated[tuple[str, ...], Field(description="Hosts whose node may be down until the action ends")] = ()


class ActionPart(Model):
    """A part of an action, such as streaming data, with its length."""

    name: str
    seconds: float


class ActionEnd(Model):
    """The record that an action ended, with the database's own evidence of that."""

    began_at: Annotated[
        AwareDatetime | None, Field(description="When its first move began, by the controller's clock; null: no record")
    ] = None
    at: Annotated[AwareDatetime, Field(description="When the evidence was there, by the controller's clock")]
    waited_s: Annotated[
        float, Field(description="Time between moves in which nobody looked, and none was under way")
    ] = 0
    undated_s: Annotated[
        float, Field(description="By how much it may have been shorter: what had ended is undated")
    ] = 0
    nodes: Annotated[tuple[str, ...], Field(description="Hosts on which the database has to run from then on")]
    evidence: Annotated[tuple[str, ...], Field(description="What the database itself told of the end")] = ()
    parts: tuple[ActionPart, ...] = ()
    streamed_bytes: Annotated[int | None, Field(description="What new nodes received; null: nothing is streamed")] = (
        None
    )


@dataclass(frozen=True)
class RecordedAction:
    """An action that ended as it should, by its two records."""

    begin: ActionBegin
    end: ActionEnd

    @property
    def began_at(self) -> datetime:
        """Return when the first thing was done; where no record tells, when it was recorded to begin."""
        return self.end.began_at or self.begin.at

    @property
    def took(self) -> str:
        whole_s = max((self.end.at - self.began_at).total_seconds(), 0)
        return took(max(whole_s - self.end.waited_s, 0), self.end.undated_s, self.end.waited_s)


def took(duration_s: float, undated_s: float, waited_s: float) -> str:
    """Return in words how long an action took, and for how long it stood still besides."""
    least = f"between {max(duration_s - undated_s, 0):.1f} and " if undated_s else ""
    still = f" (and stood still for {max(waited_s, 0):.1f} s, while nobody looked)" if waited_s else ""
    return f"{least}{max(duration_s, 0):.1f} s{still}"


class PhaseFigures(Model):
    """A service level over the judged intervals of a phase: before, during or after the action."""

    judged: int
    missed: int
    met: Annotated[
        bool | None, Field(description="Whether no interval missed; null: there was none, or percentiles leave it open")
    ]
    worst_ms: Annotated[
        float | None, Field(description="Highest interval; null: none was judged, or none answered, or it is not known")
    ]


class LevelAroundAction(Model):
    """One service level before, during and after an action."""

    service_level: ServiceLevel
    before: PhaseFigures
    during: PhaseFigures
    after: PhaseFigures
    met_again_s: Annotated[
        float | None,
        Field(description="From the action's end to the first of three met intervals in a row; null: there were none"),
    ]


class FailedOperations(Model):
    """How many operations failed in the judged time, by phase."""

    before: int
    during: int
    after: int


class ActionResult(Model):
    """An action with its times from the start of the timed run, its evidence, and the service levels around it."""

    action: Action
    hosts: tuple[str, ...]
    begun_s: float
    ended_s: float
    duration_s: Annotated[float, Field(description="Without the time in which it stood still")]
    waited_s: Annotated[
        LeftOutIfEmpty[float],
        Field(description="Time between its moves in which nobody looked, and nobody went on with it"),
    ] = 0
    undated_s: Annotated[
        LeftOutIfEmpty[float],
        Field(description="By how much it may have been shorter: nothing dates an end that was found"),
    ] = 0
    evidence: tuple[str, ...]
    parts: tuple[ActionPart, ...]
    streamed_bytes: int | None
    failed: Annotated[
        FailedOperations | None, Field(description="Null where the load generator does not tell when operations failed")
    ]
    levels: tuple[LevelAroundAction, ...]

    @property
    def took(self) -> str:
        return took(self.duration_s, self.undated_s, self.waited_s)


def condition_of(action: Action | None) -> str:
    """Return the cluster's condition during the action in words: `with one node down`; `healthy` without an action."""
    return action.condition if action else "healthy"
