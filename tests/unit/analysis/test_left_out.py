"""What a search left out of each variant's cells."""

from dataclasses import replace

from tests.support.campaigns.outcomes import Outcomes, campaign_of
from tests.support.campaigns.sound_attempt import HOST

from plimsoll.analysis.campaign.cell_results import cell_results
from plimsoll.analysis.campaign.left_out import DecidingCell, LeftOut, SharedData, left_out, shared_data
from plimsoll.domain.hosts.fingerprint import Fingerprint


def found(outcomes: Outcomes, strategy: object) -> tuple[LeftOut, ...]:
    data = campaign_of(outcomes, strategy=strategy)
    return left_out(data.definition.strategy, cell_results(data))


def test_a_full_grid_leaves_nothing_out() -> None:
    assert found({"a": {10_000: "x.", 20_000: ".."}}, "full-grid") == ()


def test_of_each_variant_it_tells_what_ran_what_may_still_run_and_what_decided_the_rest() -> None:
    over = {10_000: "mm", 20_000: "x.", 30_000: ".."}
    begun = {10_000: "m.", 20_000: "..", 30_000: ".."}
    decided = DecidingCell(cell="a-020k-r1", outcome="missed", spared=3)
    assert found({"a": over, "b": begun}, "search") == (
        LeftOut(variant="a", run=3, missing=0, not_needed=3, decided_by=(decided,)),
        LeftOut(variant="b", run=1, missing=5, not_needed=0, decided_by=()),
    )


def test_a_fast_search_is_spared_loads_above_and_below_and_tells_both() -> None:
    loads = {10_000: "..", 20_000: "m.", 30_000: "mm", 40_000: "x."}
    (one,) = found({"a": loads}, {"name": "search", "mode": "fast", "guard": 0})
    assert [(by.cell, by.outcome, by.spared) for by in one.decided_by] == [
        ("a-030k-r1", "met", 3),
        ("a-040k-r1", "missed", 1),
    ]


def test_of_shared_data_it_tells_how_many_cells_went_on_and_which_began_with_fresh_ones_above_the_lowest_load() -> None:
    data = campaign_of({"a": {10_000: "mm", 20_000: "mm"}}, strategy={"name": "ramp", "data": "same"})
    bare = {"a-010k-r2"}
    earlier = {"a-020k-r1": ("a-010k-r1/1",)}
    attempts = tuple(
        one if one.key.cell_id in bare else replace(one, fingerprint=on_data_of(earlier.get(one.key.cell_id, ())))
        for one in data.attempts
    )
    cells = cell_results(replace(data, attempts=attempts))
    assert shared_data(cells) == SharedData(cells=3, went_on=1, fresh_above=("a-020k-r2",))


def on_data_of(earlier: tuple[str, ...]) -> Fingerprint:
    return Fingerprint(nodes=(), load_host=HOST, load_generator="made up", data_of=earlier)
