"""Closed loops, as many publications measured: their rate is what came out, and nothing is decided by it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.installation import Installation
from tests.support.campaigns.running import run_missing

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.errors import DefinitionError
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.definitions.reference import dump_definition, parse_definition
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore

TEXT = """
name: loops
title: Two loops
system: {database: instant, version: 4.0.1, nodes: 3}
variants: [{id: g1, jvm: {jdk: openjdk-11.0.13, collector: G1, heap: 512M}}]
load_generator: {name: instant}
timing: {duration: 20s, warmup: 10s}
provider: {name: instant}
"""
STAGES = "stages: [{id: closed, loop: closed, loads: [1000/s]}, {id: open, loads: [1000/s]}]"


def define(keys: str = STAGES) -> Definition:
    return parse_definition(f"{TEXT}\n{keys}", "loops.yaml")


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    """Provide the verdict of a cell of each stage."""
    installation = Installation(tmp_path_factory.mktemp("loops"))
    tools = installation.toolkit
    installation.open_campaign(define())
    run_missing(tools, "campaign", "me", print)
    keys = {stage: CampaignStore(tools.store, "campaign").key(f"{stage}-g1-001k-r1", 1) for stage in ("closed", "open")}
    found = {stage: layout.VERDICT.read(tools.store, key) for stage, key in keys.items()}
    return {stage: verdict for stage, verdict in found.items() if verdict is not None}


def test_a_closed_loop_attempts_no_rate_that_it_could_fall_short_of(verdicts: dict[str, Verdict]) -> None:
    checks = {stage: {check.name for check in verdict.checks} for stage, verdict in verdicts.items()}
    assert checks["open"] - checks["closed"] == {"rate", "load generator"}
    assert checks["closed"] < checks["open"]
    assert [verdicts[stage].rate_achieved for stage in ("closed", "open")] == [None, True]
    assert all(verdict.valid for verdict in verdicts.values())


def test_a_stage_is_stored_with_its_loop_and_a_campaign_with_the_open_one_as_ever() -> None:
    definition = define()
    text = dump_definition(definition)
    assert [line.strip() for line in text.splitlines() if "loop: " in line] == ["loop: closed"]
    assert parse_definition(text, "loops.yaml") == definition
    assert [part.loop for part in resolve(definition).parts] == ["closed", "open"]


@pytest.mark.parametrize(
    ("keys", "where", "what"),
    [
        ("loads: [1000/s]\nloop: closed\nstrategy: search", "strategy", "a closed loop can't tell"),
        ("loads: [1000/s]\nloop: closed\nstrategy: ramp", "strategy", "a closed loop can't tell"),
    ],
)
def test_nothing_is_decided_by_how_a_closed_loop_ended(keys: str, where: str, what: str) -> None:
    with pytest.raises(DefinitionError, match=what) as refused:
        define(keys)
    assert where in str(refused.value)


def test_a_load_generator_without_closed_loops_is_refused(tmp_path: Path) -> None:
    tools = Installation(tmp_path).toolkit
    generator: Any = tools.load_generators["instant"]
    generator.can_close_loop = False
    tools = replace(tools, load_generators={"instant": generator})
    [problem] = problems(tools, define())
    assert (problem.where, problem.what) == ("stages[0].loop", "instant is not run in a closed loop")
    assert "`plimsoll import`, with the rates that it reached as loads" in problem.mend
