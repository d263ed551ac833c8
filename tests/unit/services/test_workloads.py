"""A campaign with several workloads from plan to verdicts, with instant clusters."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import Faults, InstantLoadGenerator
from tests.support.campaigns.running import run_missing

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.strategy import Search
from plimsoll.domain.keys.workload import NamedWorkload
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.services.campaign.open.planning import make_plan
from plimsoll.services.campaign.open.remarks import remarks
from plimsoll.services.campaign.open.request import read_request
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.campaign.show.status import campaign_status
from plimsoll.services.campaign.state.reading import Memory
from plimsoll.strategies.replay import replay
from plimsoll.strategies.state import CellAttempts, JudgedAttempt, campaign_state

TWO = (
    NamedWorkload.model_validate({"id": "kv", "partitions": "1k"}),
    NamedWorkload.model_validate({"id": "series", "partitions": "2k"}),
)


def mixed(**changes: object) -> Definition:
    return instant_definition().model_copy(update={"workloads": TWO, **changes})


def test_the_plan_has_the_cells_of_all_workloads() -> None:
    plan = make_plan(resolve(mixed()))
    document = plan.as_json()
    assert (document["totals"]["cells"], document["totals"]["workloads"], len(plan.cells)) == (8, 2, 8)
    assert {"workload": "kv"}.items() <= next(one for one in document["cells"] if one["id"] == "v1-kv-001k-r1").items()
    assert make_plan(resolve(mixed(strategy=Search()))).estimate.least == 4, "a cell of each variant with each workload"


class Choosy(InstantLoadGenerator):
    """Can't do workloads of 2,000 partitions."""

    def check(self, spec: LoadSpec) -> Sequence[Problem]:
        wrong = [Problem("workload.partitions", "are too many")] if spec.workload.partitions == 2000 else []
        return [*wrong, Problem("load_generator.threads", "are too many")]

    def limits(self, spec: LoadSpec) -> Sequence[str]:
        return [f"{spec.workload.partitions} partitions at most", "one host"]


def test_problems_of_a_workload_name_its_place_and_others_are_told_once(tmp_path: Path) -> None:
    toolkit = replace(Installation(tmp_path).toolkit, load_generators={"instant": Choosy(Faults(tmp_path))})
    places = [problem.where for problem in problems(toolkit, mixed())]
    assert places == ["load_generator.threads", "workloads[1].partitions"]


def test_the_plan_says_of_every_workload_what_the_generator_cannot_do(tmp_path: Path) -> None:
    toolkit = replace(Installation(tmp_path).toolkit, load_generators={"instant": Choosy(Faults(tmp_path))})
    found = list(remarks(toolkit, make_plan(resolve(mixed()))))
    assert found == ["1000 partitions at most", "one host", "2000 partitions at most"]


def test_every_cell_is_run_with_its_own_workload(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    campaign = installation.open_campaign(mixed())
    ran = run_missing(installation.toolkit, campaign.campaign_id, "me", lambda _: None)
    assert len(ran) == 8
    assert all(one.verdict and one.verdict.outcome == "met" for one in ran)
    partitions = {one.work.cell.workload: one.work.part.workload.partitions for one in ran}
    assert partitions == {"kv": 1000, "series": 2000}


def test_the_status_has_a_square_for_each_of_them(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    campaign = installation.open_campaign(mixed())
    now = installation.toolkit.clock.now()
    status = campaign_status(campaign.store, campaign.campaign_id, campaign.resolved(), now, Memory())
    assert status.workloads == ("kv", "series")
    assert {cell.workload for cell in status.matrix} == {"kv", "series"}
    alone = installation.open_campaign(instant_definition(), "alone")
    status = campaign_status(alone.store, "alone", alone.resolved(), now, Memory())
    assert "workload" not in status.matrix[0].model_dump()
    assert "workloads" not in status.model_dump()


def test_cells_are_asked_for_by_workload() -> None:
    request = read_request(resolve(mixed()), {"workloads": ("kv",), "cells": "v1-kv-*"})
    assert request.workloads == ("kv",)
    with pytest.raises(Refused, match="workloads: 'kw' is none of the definition's"):
        read_request(resolve(mixed()), {"workloads": ("kw",)})
    with pytest.raises(Refused, match="workloads: 'kv' is none of the definition's"):
        read_request(resolve(instant_definition()), {"workloads": ("kv",)})


def test_one_workload_alone_can_not_be_asked_for_because_its_cells_do_not_name_it() -> None:
    alone = mixed(workloads=TWO[:1])
    with pytest.raises(Refused, match="workloads: 'kv' is none of the definition's"):
        read_request(resolve(alone), {"workloads": ("kv",)})
    with pytest.raises(Refused) as caught:
        read_request(resolve(alone), {"cells": "*-kv-"})
    assert "*-kv-*" not in str(caught.value)


def test_a_miss_with_one_workload_decides_nothing_of_another() -> None:
    definition = mixed(strategy=Search())
    outcomes = {one.id: ["met"] for one in make_plan(resolve(definition)).cells} | {"v1-kv-001k-r1": ["missed"]}
    played = replay(resolve(definition), outcomes)  # type: ignore[arg-type]  # literals
    assert dict(played.not_needed) == {"v1-kv-002k-r1": "v1-kv-001k-r1"}
    assert played.capacities["v1-kv"] == ("none", None)
    assert played.capacities["v1-series"] == ("at-least", 2000)


def test_cells_are_told_workload_by_workload() -> None:
    state = campaign_state(resolve(mixed()), (), CellAttempts[JudgedAttempt])
    ladders = [one.cell.ladder for one in state.by_variant]
    assert list(dict.fromkeys(ladders)) == ["v1-kv", "v2-kv", "v1-series", "v2-series"]
