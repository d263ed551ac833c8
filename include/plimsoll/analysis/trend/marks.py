"""What was said of a trend: which campaigns are baselines, and which changes are accepted or were told. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field

from plimsoll.analysis.trend.series import NEAR, Effect, PlacedChange, TrendSeries
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
    previous_campaign_id: LeftOutIfEmpty[str] = ""
    stage: LeftOutIfEmpty[str] = ""
    workload: LeftOutIfEmpty[str] = ""
    variant: LeftOutIfEmpty[str] = ""
    effect: LeftOutIfEmpty[Effect | None] = None
    text: Annotated[str, Field(max_length=LONGEST_NOTE, description="Why; empty: the mark is taken back")] = ""
    by: str
    at: AwareDatetime

    @classmethod
    def of_campaign(cls, campaign_id: str, remark: Remark) -> Self:
        """Return a mark that makes the campaign a baseline."""
        return cls(kind="baseline", campaign_id=campaign_id, **vars(remark))

    @classmethod
    def of_change(cls, change: PlacedChange, kind: Kind, remark: Remark) -> Self:
        """Return a mark on a change."""
        return cls(kind=kind, **vars(remark), **change.model_dump(include=_OF_CHANGE))

    @property
    def note(self) -> Note | None:
        """Return what was said, by whom and when; None where it was taken back."""
        return Note(text=self.text, by=self.by, at=self.at) if self.text else None

    def is_on(self, change: PlacedChange, series: Sequence[TrendSeries]) -> bool:
        """Tell whether it is on that change: further campaigns may have moved its change points by one or two."""
        place = self.stage, self.workload, self.variant
        if place != (change.stage, change.workload, change.variant) or self.effect != change.effect:
            return False
        return any(self._is_near(series[number]) for number in change.series)

    def _is_near(self, one: TrendSeries) -> bool:
        index = self._index(one)
        if index is None:
            return False
        return any(abs(at.index - index) <= NEAR and at.effect == self.effect for at in one.change_points)

    def _index(self, one: TrendSeries) -> int | None:
        """Return the index after the change. Where its campaign was deleted, the one before tells."""
        indices = {point.campaign_id: index for index, point in enumerate(one.points)}
        before = indices.get(self.previous_campaign_id)
        return indices.get(self.campaign_id, None if before is None else before + 1)


@dataclass(frozen=True)
class Marks:
    """All marks of a trend's definitions, the oldest first."""

    log: tuple[TrendMark, ...] = ()

    def baselines(self) -> dict[str, Note]:
        """Return the baselines by their campaigns' ids."""
        newest = {mark.campaign_id: mark.note for mark in self.log if mark.kind == "baseline"}
        return {campaign_id: note for campaign_id, note in newest.items() if note}

    def on(self, change: PlacedChange, series: Sequence[TrendSeries], kind: Kind) -> TrendMark | None:
        """Return the newest mark of that kind on the change."""
        marks = (mark for mark in reversed(self.log) if mark.kind == kind and mark.is_on(change, series))
        return next(marks, None)

    def accepted(self, change: PlacedChange, series: Sequence[TrendSeries]) -> Note | None:
        """Return why the change is accepted; None where it is not."""
        mark = self.on(change, series, "accepted")
        return mark.note if mark else None
