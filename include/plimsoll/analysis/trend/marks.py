"""What was said of a trend: which campaigns are baselines, and which changes are accepted or were told. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field

from plimsoll.analysis.trend.series import NEAR, Baseline, Effect, PlacedChange, TrendSeries
from plimsoll.domain.attempt.result import LONGEST_NOTE, Note
from plimsoll.domain.text.base import LeftOutIfEmpty, Model

Kind = Literal["baseline", "accepted", "told"]
_OF_CHANGE = {"stage", "workload", "variant", "previous_campaign_id", "campaign_id", "effect"}


@dataclass(frozen=True)
class Remark:
    """What somebody says of a trend, and when; an empty text takes back what was said before."""

    text: str
    by: str
    at: datetime


class TrendMark(Model):
    """An entry in a definition's log of marks. Of several on the same thing the newest one counts."""

    kind: Kind
    campaign_id: Annotated[str, Field(description="The baseline, or the first campaign after the change")]
    began_at: Annotated[
        LeftOutIfEmpty[AwareDatetime | None],
        Field(description="Start of that campaign: another one with its id has another start"),
    ] = None
    previous_campaign_id: LeftOutIfEmpty[str] = ""
    stage: LeftOutIfEmpty[str] = ""
    workload: LeftOutIfEmpty[str] = ""
    variant: LeftOutIfEmpty[str] = ""
    effect: LeftOutIfEmpty[Effect | None] = None
    text: Annotated[str, Field(max_length=LONGEST_NOTE, description="Why; empty: the mark is taken back")] = ""
    by: str
    at: AwareDatetime

    @classmethod
    def of_campaign(cls, campaign_id: str, began_at: datetime | None, remark: Remark) -> Self:
        return cls(kind="baseline", campaign_id=campaign_id, began_at=began_at, **vars(remark))

    @classmethod
    def of_change(cls, change: PlacedChange, began_at: datetime | None, kind: Kind, remark: Remark) -> Self:
        return cls(kind=kind, began_at=began_at, **vars(remark), **change.model_dump(include=_OF_CHANGE))

    @property
    def baseline(self) -> Baseline:
        return Baseline(self.campaign_id, self.began_at)

    @property
    def note(self) -> Note | None:
        return Note(text=self.text, by=self.by, at=self.at) if self.text else None

    def is_on(self, change: PlacedChange, series: Sequence[TrendSeries]) -> bool:
        """Tell whether it is on that change, whose change points further campaigns may have moved by one or two.

        The step that fits a drift best moves further: there it is on the change if no other one stands between.
        """
        place = self.stage, self.workload, self.variant
        if place != (change.stage, change.workload, change.variant) or self.effect != change.effect:
            return False
        return any(self._is_at(own, number) for own, number in _own_points(change, series))

    def _is_at(self, series: TrendSeries, number: int) -> bool:
        indices = {point.campaign_id: index for index, point in enumerate(series.points)}
        before = indices.get(self.previous_campaign_id)
        # Where the first campaign after the change was deleted, the one before it tells
        index = indices.get(self.campaign_id, None if before is None else before + 1)
        if index is None:
            return False
        at, ends = series.change_points[number], series.ends
        return abs(at.index - index) <= NEAR or (at.gradual and ends[number] < index < ends[number + 2])


def _own_points(change: PlacedChange, series: Sequence[TrendSeries]) -> Iterator[tuple[TrendSeries, int]]:
    """Yield each series of a change with the number of its change point there: the nearest to the surest one's."""
    campaigns = [point.campaign_id for point in series[change.series[0]].points]
    index = campaigns.index(change.campaign_id)
    for own in (series[number] for number in change.series):
        alike = [number for number, at in enumerate(own.change_points) if at.effect == change.effect]
        yield own, min(alike, key=lambda number: abs(own.change_points[number].index - index))


@dataclass(frozen=True)
class Marks:
    """All marks of a trend's definitions, the oldest first."""

    log: tuple[TrendMark, ...] = ()

    def baselines(self) -> dict[Baseline, Note]:
        newest = {mark.campaign_id: mark for mark in self.log if mark.kind == "baseline"}
        return {mark.baseline: note for mark in newest.values() if (note := mark.note)}

    def among(self, began: Mapping[str, datetime]) -> "Marks":
        """Return the marks as they are among campaigns, given by id with their starts.

        A mark on a change at a campaign that was deleted, whose id another one has by now, has no first campaign.
        """

        def is_there(mark: TrendMark) -> bool:
            here = began.get(mark.campaign_id)
            return here is None or mark.kind == "baseline" or mark.baseline.is_of(mark.campaign_id, here)

        log = (mark if is_there(mark) else mark.model_copy(update={"campaign_id": ""}) for mark in self.log)
        return Marks(tuple(log))

    def on(self, change: PlacedChange, series: Sequence[TrendSeries], kind: Kind) -> TrendMark | None:
        marks = (mark for mark in reversed(self.log) if mark.kind == kind and mark.is_on(change, series))
        return next(marks, None)

    def accepted(self, change: PlacedChange, series: Sequence[TrendSeries]) -> Note | None:
        mark = self.on(change, series, "accepted")
        return mark.note if mark else None
