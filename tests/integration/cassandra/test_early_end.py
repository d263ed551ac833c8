"""A load that ends before its time, by a miss or a stop rule: a real node, from provisioning to the verdict."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.support.campaigns.local_definition import ANY_NOISE
from tests.support.campaigns.running import run_cell
from tests.support.nodes.even import toolkit
from tests.support.nodes.small import define
from tests.support.suite.requirements import long

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.publish.results import attempt_data
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings

DURATION_S, WARMUP_S, LEAST = 20, 2, 3
WHOLE = long("quicker cells go on to their end, too")


@pytest.mark.parametrize(("below", "outcome"), [("10us", "missed"), pytest.param("60s", "met", marks=WHOLE)])
def test_a_load_ends_once_it_has_missed_and_goes_on_otherwise(
    artefacts: Artefacts, tmp_path: Path, below: str, outcome: str
) -> None:
    tools, verdict, said = run(artefacts, tmp_path, below)

    assert (verdict.outcome, verdict.reasons) == (outcome, ())
    is_ended = outcome == "missed"
    assert judged_intervals(tools, verdict) == (LEAST if is_ended else (DURATION_S - WARMUP_S) // 2)
    assert any("the load was ended after 8s" in warning for warning in verdict.warnings) == is_ended
    # Where the node stood still in the first interval, nothing has missed so far
    assert is_ended or any("met so far, last" in line for line in said)


@long("rules end loads of the generator alone, too")
def test_a_load_that_a_stop_rule_ends_in_its_warm_up_has_missed(artefacts: Artefacts, tmp_path: Path) -> None:
    rule = {"percentile": 50, "above": "10us", "within": f"{WARMUP_S}s"}

    tools, verdict, _ = run(artefacts, tmp_path, "60s", stop_when=[rule])

    assert (verdict.outcome, verdict.reasons, verdict.levels[0].met) == ("missed", (), True)
    # Nothing may be answered in the first seconds of a node on a busy machine.
    assert re.match(r"the load was ended after [2-5]s by `stop_when\[0\]`: ", verdict.stopped), verdict.stopped
    assert judged_intervals(tools, verdict) == 1


@long("the database is a PostgreSQL in another test, and the program's own end is tested alone")
def test_two_load_hosts_end_by_a_rule_that_both_keep_for_their_share(artefacts: Artefacts, tmp_path: Path) -> None:
    rule = {"percentile": 50, "above": "10us", "within": "7s"}
    hosts = {**define(nodes=1).load_generator.model_dump(mode="json"), "hosts": 2}
    timing = {"duration": f"{DURATION_S}s", "warmup": f"{WARMUP_S}s"}

    tools, verdict, _ = run(artefacts, tmp_path, "60s", stop_when=[rule], load_generator=hosts, timing=timing)

    assert (verdict.outcome, verdict.reasons, verdict.levels[0].met) == ("missed", (), True)
    assert re.match(r"the load was ended after \d+s by `stop_when\[0\]`: load2?: ", verdict.stopped), verdict.stopped
    assert judged_intervals(tools, verdict) >= 2


def run(artefacts: Artefacts, tmp_path: Path, below: str, **keys: Any) -> tuple[Toolkit, Verdict, list[str]]:
    """Return the tools, the last verdict and what was printed of one cell on a real node."""
    settings = Settings(store=str(tmp_path / "store"), work=tmp_path / "work", cache=Settings().cache)
    content = define(nodes=1).model_dump(mode="json", exclude={"timing", "service_levels"})
    timing = {"duration": f"{DURATION_S}s", "warmup": f"{WARMUP_S}s", "stop": "decided", "least_intervals": LEAST}
    levels = [{"percentile": 99, "interval": "2s", "below": below}]
    given = {"timing": timing, "service_levels": levels, "disturbance": {**ANY_NOISE, "generator_lag": "10s"}}
    own = Definition.model_validate({**content, "name": "early", **given, **keys})
    tools, said = toolkit(settings), list[str]()
    artefacts.prepare_program("load-generator")
    assert problems(tools, own) == ()
    CampaignStore(tools.store, "early").open(own)

    _, verdict = run_cell(tools, "early", said.append)
    return tools, verdict, said


def judged_intervals(tools: Toolkit, verdict: Verdict) -> int:
    """Return how many intervals of the attempt were judged."""
    intervals = attempt_data(tools.store, verdict).intervals
    return len(intervals[(intervals["phase"] == "judged") & (intervals["operation"] == "all")])
