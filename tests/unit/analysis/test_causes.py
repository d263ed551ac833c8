from dataclasses import replace

import numpy as np
import pytest
from tests.support.campaigns.synthetic import Plan, azul_definition, synthetic_campaign

from plimsoll.analysis.campaign.causes import VariantCauses, causes_of_misses, shift_test
from plimsoll.analysis.campaign.cell_results import CampaignData, cell_results
from plimsoll.analysis.campaign.misses import CellCause, causes_by_cell

LOADS = ["20000/s", "60000/s", "100000/s"]


def campaign(**changes: object) -> CampaignData:
    """Return three variants, three loads, two repeats of 180 judged intervals.

    G1 misses from pauses unless told otherwise.
    """
    definition = azul_definition(loads=LOADS, repeats=2, timing={"duration": "35m", "warmup": "5m"})
    definition = definition.model_copy(update={"variants": definition.variants[1:4]})
    capacities = {"g1": 20_000, "cms": 60_000, "shenandoah": 20_000}
    return synthetic_campaign(definition, Plan(capacities, **changes))  # type: ignore[arg-type]


def causes(data: CampaignData) -> dict[str, VariantCauses]:
    return {one.variant: one for one in causes_of_misses(cell_results(data), 100.0)}


def linked(one: VariantCauses) -> set[str]:
    return {share.cause for share in one.causes if share.link == "linked"}


@pytest.fixture(scope="module")
def found() -> dict[str, VariantCauses]:
    return causes(campaign(culprits={"cms": "steal", "shenandoah": "nothing"}))


def test_planted_causes_are_found_and_no_others(found: dict[str, VariantCauses]) -> None:
    assert {variant: linked(one) for variant, one in found.items()} == {
        "g1": {"pause"},
        "cms": {"steal"},
        "shenandoah": set(),
    }


def test_what_no_linked_cause_touched_stays_unexplained(found: dict[str, VariantCauses]) -> None:
    g1, shenandoah = found["g1"].explained, found["shenandoah"].explained
    assert g1.linked == g1.missed > 0
    assert shenandoah.linked == 0
    assert shenandoah.coincident + shenandoah.nothing == shenandoah.missed > 0
    assert shenandoah.nothing > 0


def test_parts_add_up_for_every_cell(found: dict[str, VariantCauses]) -> None:
    for one in found.values():
        for parts in (one.explained, *one.cells.values()):
            assert parts.linked + parts.coincident + parts.nothing + parts.unknown == parts.missed
        assert sum(parts.missed for parts in one.cells.values()) == one.explained.missed


def test_the_base_rate_stands_beside_and_is_taken_off(found: dict[str, VariantCauses]) -> None:
    (compaction,) = (share for share in found["g1"].causes if share.cause == "compaction")
    assert compaction.met_with / compaction.met == pytest.approx(0.2, abs=0.05)
    assert compaction.beyond_chance == pytest.approx(0, abs=0.08)
    (pause,) = (share for share in found["g1"].causes if share.cause == "pause")
    assert pause.beyond_chance == 1.0


def test_a_cause_that_was_not_collected_says_so(found: dict[str, VariantCauses]) -> None:
    (dropped,) = (share for share in found["g1"].causes if share.cause == "dropped")
    assert (dropped.link, dropped.p_value, dropped.missed) == ("not collected", None, 0)


def test_attempts_of_which_nothing_was_analysed_are_unknown() -> None:
    data = campaign()
    bare = replace(data, attempts=tuple(replace(one, coincidences=one.coincidences.iloc[:0]) for one in data.attempts))
    for one in causes(bare).values():
        assert one.explained.unknown == one.explained.missed > 0
        assert {share.link for share in one.causes} == {"not collected"}


def test_a_campaign_of_few_intervals_cannot_tell() -> None:
    missed = np.array([True, False, False])
    p_value, smallest = shift_test([(missed, missed)])
    assert p_value == pytest.approx(1 / 3, abs=0.02)
    assert smallest == pytest.approx(1 / 3)


def test_clusters_alone_make_no_link() -> None:
    """Misses and a cause that both come in long runs, independently: counting intervals one by one would be fooled."""
    random, alarms = np.random.default_rng(1), 0
    for _ in range(100):
        runs = [np.repeat(random.random(24) < 0.3, 30) for _ in range(2)]
        alarms += shift_test([(runs[0], np.roll(runs[1], random.integers(720)))], 499)[0] <= 0.05
    assert alarms <= 11  # 5 expected; 12 or more of 100 have a chance below 1 %


def by_cell(data: CampaignData) -> tuple[CellCause, ...]:
    cells = cell_results(data)
    return causes_by_cell(cells, causes_of_misses(cells, 100.0), 100.0)


def test_a_cell_s_causes_are_counted_over_its_missed_intervals_alone() -> None:
    data = campaign()
    tables = {one.key.cell_id: one.coincidences for one in data.attempts}
    found = [one for one in by_cell(data) if one.cause == "pause"]
    assert {one.cell.partition("-")[0] for one in found} >= {"g1"}
    for one in found:
        missed = tables[one.cell][tables[one.cell]["missed"]]
        assert (one.missed, one.missed_with) == (len(missed), int((missed["pause"] >= 50.0).sum()))
        assert one.missed_with > 0


def test_cells_of_which_only_response_times_are_known_have_no_causes() -> None:
    data = campaign()
    bare = replace(data, attempts=tuple(replace(one, coincidences=one.coincidences.iloc[:0]) for one in data.attempts))
    assert by_cell(bare) == ()
