"""Summaries of the repeats of a variant at a load."""

from dataclasses import replace

from tests.support.campaigns.outcomes import campaign_of

from plimsoll.analysis.campaign.by_load import RepeatsAtLoad, repeats_by_load
from plimsoll.analysis.campaign.cell_results import CampaignData, cell_results
from plimsoll.domain.attempt.result import OpeningBacklog


def summaries(data: CampaignData) -> dict[int, RepeatsAtLoad]:
    found = repeats_by_load(cell_results(data), data.definition.service_levels[0])
    return {one.load_ops_s: one for one in found}


def changed(data: CampaignData, **update: object) -> CampaignData:
    """Return the campaign where the first repeat at 20,000 ops/s has another verdict."""
    return replace(
        data,
        attempts=tuple(
            replace(one, verdict=one.verdict.model_copy(update=update)) if one.key.cell_id == "a-020k-r1" else one
            for one in data.attempts
        ),
    )


def test_rates_and_maxima_are_of_valid_repeats_and_the_share_is_the_median_s() -> None:
    data = changed(campaign_of({"a": {10_000: "i.", 20_000: "mx"}}), achieved_ops_s=18_000.0)
    found = summaries(data)
    assert (found[20_000].repeats, found[20_000].valid, found[20_000].achieved_share) == (2, 2, 0.95)
    highest = found[20_000].maxima_ms["p99_9_ms"]
    assert highest is not None
    assert (highest.low, highest.high) == (50.0, 250.0)
    none = found[10_000]
    assert (none.repeats, none.valid, none.achieved_share, set(none.maxima_ms.values())) == (2, 0, None, {None})


def test_repeats_that_fell_short_or_began_with_a_backlog_are_counted() -> None:
    waiting = OpeningBacklog(in_flight=0, unsent=75_000, seconds=3.75)
    data = changed(campaign_of({"a": {20_000: "mm"}}), rate_achieved=False, opening_backlog=waiting)
    assert (summaries(data)[20_000].not_achieved, summaries(data)[20_000].begin_with_backlog) == (1, 1)
