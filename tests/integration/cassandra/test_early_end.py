"""A load that ends once an interval has missed: a real node of this machine, from provisioning to the verdict."""

from pathlib import Path

import pytest
from tests.support.campaigns.running import run_missing
from tests.support.nodes.even import toolkit
from tests.support.nodes.small import define

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.domain.definition import Definition
from plimsoll.services.campaign.runnable import problems
from plimsoll.services.publish.results import attempt_data
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.settings import Settings

DURATION_S, WARMUP_S, LEAST = 20, 2, 3


@pytest.mark.parametrize(("below", "outcome"), [("10us", "missed"), ("60s", "met")])
def test_a_load_ends_once_it_has_missed_and_goes_on_otherwise(
    artefacts: Artefacts, tmp_path: Path, below: str, outcome: str
) -> None:
    settings = Settings(store=str(tmp_path / "store"), work=tmp_path / "work", cache=Settings().cache)
    content = define(nodes=1).model_dump(mode="json", exclude={"timing", "service_levels"})
    timing = {"duration": f"{DURATION_S}s", "warmup": f"{WARMUP_S}s", "stop": "decided", "least_intervals": LEAST}
    levels = [{"percentile": 99, "interval": "2s", "below": below}]
    own = Definition.model_validate({**content, "name": "early", "timing": timing, "service_levels": levels})
    tools, said = toolkit(settings), list[str]()
    artefacts.prepare_program("load-generator")
    assert problems(tools, own) == ()
    CampaignStore(tools.store, "early").open(own)

    [ran] = run_missing(tools, "early", "me", said.append)

    assert (ran.troubles, ran.remains) == ((), False)
    assert ran.verdict is not None
    assert (ran.verdict.outcome, ran.verdict.reasons) == (outcome, ())
    intervals = attempt_data(tools.store, ran.verdict).intervals
    judged = intervals[(intervals["phase"] == "judged") & (intervals["operation"] == "all")]
    is_ended = outcome == "missed"
    assert len(judged) == (LEAST if is_ended else (DURATION_S - WARMUP_S) // 2)
    assert any("the load was ended after 8s" in warning for warning in ran.verdict.warnings) == is_ended
    assert any(line.endswith("met so far") or "met so far, last" in line for line in said) != is_ended
