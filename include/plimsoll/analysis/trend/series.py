"""Series of figures from campaign to campaign, in an order, with their change points and what else changed there."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from math import inf
from statistics import median
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.analysis.trend.change_points import ENOUGH, SMALLEST, Change, change_points
from plimsoll.analysis.trend.figures import MORE_IS_BETTER, Figure, Measure, MeasuredCampaign, Place, SeriesKey
from plimsoll.domain.attempt.result import Note
from plimsoll.domain.text.base import LeftOutIfEmpty, Model

Order = Literal["date", "version", "label"]
Effect = Literal["regression", "improvement"]
ABSENT = "(not told)"


@dataclass(frozen=True)
class Baseline:
    """A campaign at which series start anew. `began_at`: its start when it was marked; None in older marks."""

    campaign_id: str
    began_at: datetime | None = None

    def is_of(self, campaign_id: str, began_at: datetime) -> bool:
        """Tell whether it is that campaign, rather than another one that was made anew under its id."""
        return self.campaign_id == campaign_id and self.began_at in (None, began_at)

    def first(self, campaigns: Sequence[MeasuredCampaign], order: Order) -> int:
        """Return the index at which a series starts anew.

        Where the campaign was deleted or is left out, it is by date the first one after its start, and else 0.
        """
        own = [index for index, campaign in enumerate(campaigns) if self.is_of(campaign.campaign_id, campaign.began_at)]
        if own or order != "date" or self.began_at is None:
            return max(own, default=0)
        later = (at for at, campaign in enumerate(campaigns) if campaign.began_at >= self.began_at)
        return next(later, len(campaigns) - 1)


class TrendPoint(Model):
    """The figure of one campaign; null where it has none."""

    campaign_id: str
    value: Annotated[float | None, Field(description="Median over valid repeats; of a capacity that of the load")]
    low: Annotated[float | None, Field(description="Lowest repeat; of a capacity the interval's lower end")] = None
    high: Annotated[float | None, Field(description="Highest repeat; of a capacity the interval's upper end")] = None
    to_bound: Annotated[
        LeftOutIfEmpty[float | None], Field(description="Of a worst interval: `value` / bound; 1 less this: the margin")
    ] = None


class ChangedFact(Model):
    """A fact with no value in common on both sides of a change: the last one before, and the first one after."""

    fact: str
    before: str
    after: str


class ChangePoint(Model):
    """A change of level between two campaigns that follow each other in the series."""

    index: Annotated[int, Field(description="Of the first point after the change, from 0")]
    previous_campaign_id: Annotated[str, Field(description="The last one before the change with a figure")]
    campaign_id: Annotated[str, Field(description="The first one after it")]
    before: Annotated[float, Field(description="Mean from the change before to this one; geometric above zero")]
    after: Annotated[float, Field(description="Mean from this change to the next one")]
    ratio: Annotated[float | None, Field(description="`after` / `before`; null where that is zero")]
    p_value: Annotated[float, Field(description="Of the t-test, times the number of places that were looked at")]
    effect: Effect
    gradual: Annotated[bool, Field(description="A straight line describes the points better than a step")]
    environment_known: Annotated[bool, Field(description="Whether anything is known of the environment on both sides")]
    also_changed: Annotated[tuple[ChangedFact, ...], Field(description="What else differs between both sides")]


class TrendSeries(Model):
    """One measure of one variant at one load, from campaign to campaign. The measure ends with its unit."""

    measure: Measure
    stage: LeftOutIfEmpty[str] = ""
    workload: LeftOutIfEmpty[str] = ""
    variant: str
    load_ops_s: Annotated[int | None, Field(description="Null of a capacity, and where `level` names the load")] = None
    level: Annotated[LeftOutIfEmpty[str], Field(description="The rule by which an earlier stage gave the load")] = ""
    of: Annotated[LeftOutIfEmpty[str], Field(description="The service level, or the process of pauses")] = ""
    points: tuple[TrendPoint, ...]
    searched_from: Annotated[
        LeftOutIfEmpty[int], Field(description="Index of the newest baseline: changes are sought from there on")
    ] = 0
    enough: Annotated[bool, Field(description="Whether there are enough figures for a change to be found at all")]
    change_points: tuple[ChangePoint, ...]

    @property
    def place(self) -> Place:
        return self.stage, self.workload, self.variant

    @property
    def ends(self) -> list[int]:
        """Return the first point of each level, and the one behind the last level's."""
        return [self.searched_from, *(at.index for at in self.change_points), len(self.points)]

    @property
    def levels(self) -> tuple[tuple[int, int, float | None], ...]:
        """Return the first point of each level, the one behind its last, and its mean.

        The mean is None where nothing changed, and of all that is before a baseline.
        """
        before = self.change_points[0].before if self.change_points else None
        means = [before, *(at.after for at in self.change_points)]
        earlier = [(0, self.searched_from, None)] if self.searched_from else []
        return (*earlier, *zip(self.ends, self.ends[1:], means, strict=False))


class PlacedChange(Model):
    """All change points of a variant that are the same change: at most two campaigns apart, with the same effect."""

    stage: LeftOutIfEmpty[str] = ""
    workload: LeftOutIfEmpty[str] = ""
    variant: str
    previous_campaign_id: str
    campaign_id: Annotated[str, Field(description="As the surest of its change points has it")]
    effect: Effect
    series: Annotated[tuple[int, ...], Field(description="Places in `series` of those that changed, the surest first")]
    accepted: Annotated[LeftOutIfEmpty[Note | None], Field(description="Why it is accepted, where it is")] = None


NEAR = 2
"""How many campaigns apart the change points of two series may be to be one change: noise moves each by one or two."""


def trend_series(
    campaigns: Sequence[MeasuredCampaign], order: Order, baselines: Collection[Baseline] = ()
) -> tuple[TrendSeries, ...]:
    """Return every series of campaigns that are given by date. Those without a place in the order are left out."""
    keys = dict.fromkeys(key for campaign in reversed(campaigns) for key in campaign.figures)
    of_keys = ((key, in_order(campaigns, order, _place(key))) for key in keys)
    return tuple(
        _series(key, own, max((baseline.first(own, order) for baseline in baselines), default=0))
        for key, own in of_keys
        if any(key in campaign.figures for campaign in own)
    )


def in_order(by_date: Iterable[MeasuredCampaign], order: Order, place: Place) -> list[MeasuredCampaign]:
    """Return the campaigns as a series of that place has them. Equals keep the order of their dates."""
    if order == "date":
        return list(by_date)
    placed = (campaign for campaign in by_date if campaign.sorted_by(order, place))
    return sorted(placed, key=lambda campaign: natural(campaign.sorted_by(order, place)))


def placed_changes(series: Sequence[TrendSeries]) -> tuple[PlacedChange, ...]:
    """Return the changes of all variants, each once, in the order of series and campaigns."""
    groups: list[list[tuple[int, ChangePoint]]] = []
    for number, own_series in enumerate(series):
        for change in own_series.change_points:
            of_place = (own for own in groups if series[own[0][0]].place == own_series.place)
            near = (own for own in of_place if abs(own[0][1].index - change.index) <= NEAR)
            if group := next((own for own in near if own[0][1].effect == change.effect), None):
                group.append((number, change))
            else:
                groups.append([(number, change)])
    return tuple(_placed(series, sorted(own, key=lambda pair: pair[1].p_value)) for own in groups)


def _placed(series: Sequence[TrendSeries], own: Sequence[tuple[int, ChangePoint]]) -> PlacedChange:
    (number, surest), of_series = own[0], tuple(dict.fromkeys(number for number, _ in own))
    stage, workload, variant = series[number].place
    return PlacedChange(
        stage=stage,
        workload=workload,
        variant=variant,
        previous_campaign_id=surest.previous_campaign_id,
        campaign_id=surest.campaign_id,
        effect=surest.effect,
        series=of_series,
    )


def _place(key: SeriesKey) -> Place:
    return key.stage, key.workload, key.variant


def _series(key: SeriesKey, campaigns: Sequence[MeasuredCampaign], first: int) -> TrendSeries:
    figures = [campaign.figures.get(key) for campaign in campaigns]
    values = [figure.value if figure else None for figure in figures]
    searched = change_points(values[first:], _smallest(key, figures[first:]))
    changes = [replace(change, place=first + change.place) for change in searched]
    ends = [first, *(change.place for change in changes), len(campaigns)]
    levels = [
        [campaign for campaign, figure in zip(campaigns[start:end], figures[start:end], strict=True) if figure]
        for start, end in pairwise(ends)
    ]
    return TrendSeries(
        **vars(key),
        points=tuple(map(_point, campaigns, figures)),
        searched_from=first,
        enough=sum(map(len, levels)) >= ENOUGH,
        change_points=tuple(
            _change_point(key, change, before, after)
            for change, before, after in zip(changes, levels, levels[1:], strict=False)
        ),
    )


def _smallest(key: SeriesKey, figures: Iterable[Figure | None]) -> float:
    """Return the smallest change that is told. Of a capacity it is half its interval: within that it is not known.

    Campaigns with the same loads have the same doubt, which the mean over many of them does not lessen.
    """
    if key.measure != "capacity_ops_s":
        return SMALLEST
    known = (figure for figure in figures if figure)
    widths = [(figure.high - figure.low) / figure.value if figure.low and figure.high else inf for figure in known]
    return max(SMALLEST, median(widths) / 2) if widths else SMALLEST


def _change_point(
    key: SeriesKey, change: Change, before: Sequence[MeasuredCampaign], after: Sequence[MeasuredCampaign]
) -> ChangePoint:
    """Return a change with what else changed between the campaigns with figures on both sides."""
    sides = [[campaign.facts.get(_place(key)) for campaign in side] for side in (before, after)]
    known = [[facts.environment for facts in side if facts and facts.environment] for side in sides]
    declared = [[facts.declared if facts else {} for facts in side] for side in sides]
    return ChangePoint(
        index=change.place,
        previous_campaign_id=before[-1].campaign_id,
        campaign_id=after[0].campaign_id,
        before=change.before,
        after=change.after,
        ratio=change.ratio,
        p_value=change.p,
        effect="improvement" if (change.after > change.before) == (key.measure in MORE_IS_BETTER) else "regression",
        gradual=change.gradual,
        environment_known=all(known),
        also_changed=(*(also_changed(*known) if all(known) else ()), *also_changed(*declared)),
    )


def _point(campaign: MeasuredCampaign, figure: Figure | None) -> TrendPoint:
    return TrendPoint(campaign_id=campaign.campaign_id, **(vars(figure) if figure else {"value": None}))


def also_changed(before: Sequence[Mapping[str, str]], after: Sequence[Mapping[str, str]]) -> tuple[ChangedFact, ...]:
    """Return the facts with no value in common on both sides, each a sequence of campaigns whose facts are known."""
    names = dict.fromkeys(fact for facts in (*before, *after) for fact in facts)
    return tuple(
        ChangedFact(fact=fact, before=before[-1].get(fact, ABSENT), after=after[0].get(fact, ABSENT))
        for fact in names
        if not {facts.get(fact, ABSENT) for facts in before} & {facts.get(fact, ABSENT) for facts in after}
    )


def natural(text: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts numbers within texts by their size: `5.0-rc1` before `5.0`, and that before `5.0.1`."""
    words = re.findall(r"\d+|[^\W\d_]+", text)
    # The end of a text sorts behind words, such as `rc`, and before numbers
    return [*((2, int(word), "") if word.isdecimal() else (0, 0, word.lower()) for word in words), (1, 0, "")]
