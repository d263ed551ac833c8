"""The campaign's suites on real Great Expectations."""

from typing import Any

from tests.support.campaigns import sound_attempt as sound

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.campaign.cell import Cell
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.keys.strategy import Search
from plimsoll.quality.campaign_checks import cells_to_run_again, check_campaign
from plimsoll.strategies.state import CellAttempts, JudgedAttempt, campaign_state


def complete() -> list[Verdict]:
    return [sound.verdict(cell) for cell in grid(resolve(sound.definition()))]


def state_of(verdicts: Any, definition: Any = None) -> Any:
    attempts = [JudgedAttempt(one.key, one) for one in verdicts]
    return campaign_state(resolve(definition or sound.definition()), attempts, CellAttempts)


def check(verdicts: Any, **odd: Any) -> Any:
    prints = {one.key: odd.get(one.cell.id.replace("-", "_"), sound.fingerprint()) for one in verdicts}
    return check_campaign(state_of(verdicts), prints), prints


def failed(quality: Any) -> dict[str, str]:
    return {one.name: one.observed for one in quality.checks if not one.success}


def test_a_complete_campaign_passes() -> None:
    quality, _ = check(complete())
    assert failed(quality) == {}
    assert quality.reasons == quality.warnings == ()


def test_missing_and_invalid_cells_close_the_gate_by_name() -> None:
    missing, invalid, *rest = complete()
    verdicts = [*rest, sound.verdict(invalid.cell, valid=False)]
    quality, prints = check(verdicts)
    assert failed(quality) == {
        "valid cells": f"not run ({missing.cell.id}), invalid ({invalid.cell.id})",
        "repeats": "1 (g1 1000), 1 (g1 2000)",
    }
    assert cells_to_run_again(state_of(verdicts), prints) == (missing.cell.id, invalid.cell.id)


def test_many_invalid_cells_are_counted_not_listed() -> None:
    quality, _ = check([])
    assert failed(quality)["valid cells"].endswith(" and 3 more")


def test_an_invalid_attempt_beside_a_valid_one_does_not_matter() -> None:
    verdicts = [*complete(), *(sound.verdict(one.cell, attempt=2, valid=False) for one in complete())]
    quality, prints = check(verdicts)
    assert failed(quality) == {}
    assert cells_to_run_again(state_of(verdicts), prints) == ()


def test_what_a_search_does_not_need_is_no_gap() -> None:
    definition = sound.definition().model_copy(update={"strategy": Search()})
    met = [sound.verdict(cell) for cell in grid(resolve(definition)) if cell.load_ops_s == 1000 and cell.repeat == 1]
    missed = [verdict.model_copy(update={"met": False}) for verdict in met]
    assert failed(check_campaign(state_of(missed, definition), {})) == {}
    assert cells_to_run_again(state_of(missed, definition), {}) == ()
    assert failed(check_campaign(state_of(met, definition), {}))["repeats"].startswith("1 (g1 1000), 0 (g1 2000)")
    assert len(cells_to_run_again(state_of(met, definition), {})) == len(grid(resolve(definition))) - len(met)


def test_a_cell_that_the_definition_does_not_have_is_found() -> None:
    stranger = sound.verdict(Cell(variant="g1", load_ops_s=9000, repeat=1))
    quality, _ = check([*complete(), stranger])
    assert failed(quality) == {"matrix": "9", "repeats": "1 (g1 9000)"}


def test_a_cell_with_other_software_closes_the_gate_by_name() -> None:
    kernel = sound.HOST.model_copy(update={"kernel": "7"})
    odd = sound.fingerprint(sound.node("node1", facts=kernel), sound.node("node2"), sound.node("node3"))
    quality, prints = check(complete(), g1_002k_r2=odd)
    assert failed(quality) == {"one environment per variant": "2 (g1 kernel not 6.1.0: g1-002k-r2)"}
    assert len(quality.reasons) == 1
    assert cells_to_run_again(state_of(complete()), prints) == ("g1-002k-r2",)


def test_a_cell_on_another_processor_is_warned_of() -> None:
    other = sound.HOST.model_copy(update={"cpu_model": "another"})
    quality, prints = check(complete(), zgc_001k_r1=sound.fingerprint(load_host=other))
    assert set(failed(quality)) == {"one hardware per variant"}
    assert quality.reasons == ()
    assert cells_to_run_again(state_of(complete()), prints) == ()


def test_repeats_far_apart_are_warned_of() -> None:
    verdicts = [
        sound.verdict(cell, worst_ms=10.0 * cell.repeat**2, rate=1.0 - 0.05 * (cell.repeat - 1))
        for cell in grid(resolve(sound.definition()))
    ]
    quality, _ = check(verdicts)
    assert set(failed(quality)) == {"spread of rates", "spread of response times"}
    assert failed(quality)["spread of response times"].startswith("4 (g1 1000)")
    assert quality.reasons == ()
