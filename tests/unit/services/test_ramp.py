"""A ramp run with instant clusters, and what of it is refused."""

from pathlib import Path

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.outcomes import campaign_of
from tests.support.campaigns.running import run_missing

from plimsoll.analysis.campaign.cell_results import missed_by
from plimsoll.analysis.campaign.findings import analyse
from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.keys.strategy import Ramp
from plimsoll.report.words.stages import how_cells_were_chosen, what_was_run
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.definitions.reference import dump_definition, parse_definition
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.strategies.state import CellAttempts, JudgedAttempt, campaign_state


def test_every_load_is_run_where_nothing_misses_and_each_verdict_says_that_the_rate_counts(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    definition = instant_definition(loads=3).model_copy(update={"strategy": Ramp()})
    campaign = installation.open_campaign(definition)
    ran = run_missing(installation.toolkit, campaign.campaign_id, "me", lambda _: None)
    assert [one.verdict.must_reach_rate for one in ran if one.verdict] == [True] * 6
    stored = CampaignStore(installation.toolkit.store, campaign.campaign_id)
    state = campaign_state(
        resolve(definition), (JudgedAttempt(one.key, one) for one in stored.verdicts()), CellAttempts
    )
    assert state.missing == ()


def test_verdicts_of_other_strategies_are_stored_as_before(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    campaign = installation.open_campaign(instant_definition(loads=1, variants=1))
    (ran,) = run_missing(installation.toolkit, campaign.campaign_id, "me", lambda _: None)
    assert ran.verdict
    assert "must_reach_rate" not in ran.verdict.model_dump()


def verdict_that_fell_short() -> Verdict:
    data = campaign_of({"a": {10_000: "m"}}, strategy="ramp")
    found = data.attempts[0].verdict
    return found.model_copy(update={"met": False, "rate_achieved": False, "must_reach_rate": True})


def test_a_rate_that_was_not_achieved_is_no_miss_by_errors() -> None:
    found = verdict_that_fell_short()
    assert (found.outcome, found.fell_short, missed_by(found)) == ("missed", True, "rate")
    as_search = found.model_copy(update={"must_reach_rate": False})
    assert missed_by(as_search) == "errors"


def test_the_report_says_what_a_ramp_ran_and_what_its_figures_mean() -> None:
    findings = analyse(campaign_of({"a": {10_000: "m", 20_000: "x", 30_000: "."}}, strategy="ramp"))
    assert what_was_run(findings) == "A ramp ran 2 of 3 cells; 1 need not run."
    assert "the highest load that all repeats sustained" in how_cells_were_chosen(findings)
    (capacity,) = findings.capacities
    assert (capacity.kind, capacity.capacity_ops_s) == ("found", 10_000)


@pytest.mark.parametrize(("data", "refused"), [("fresh", []), ("same", ["strategy.data"])])
def test_data_that_outlive_a_cell_are_refused_before_anything_starts(
    tmp_path: Path, data: str, refused: list[str]
) -> None:
    definition = instant_definition().model_copy(update={"strategy": Ramp.model_validate({"data": data})})
    found = problems(Installation(tmp_path).toolkit, definition)
    assert [one.where for one in found if one.where.startswith("strategy")] == refused


def test_a_definition_with_a_ramp_is_read_back_the_same() -> None:
    text = dump_definition(instant_definition()).replace("strategy: full-grid", "strategy: {name: ramp, data: same}")
    definition = parse_definition(text, "ramp.yaml")
    assert definition.strategy == Ramp(data="same")
    assert parse_definition(dump_definition(definition), "kept") == definition
