"""What `plimsoll plan` tells people of a campaign's cost."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.installation import instant_definition
from typer.testing import CliRunner

from plimsoll.cli import cli
from plimsoll.cli.plan import show
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.hosts.cost import HostRate, Tariff
from plimsoll.domain.keys.action import Action
from plimsoll.domain.keys.definition_keys import Published, PublishedRow
from plimsoll.domain.keys.host_bounds import Disturbance
from plimsoll.domain.keys.loads import NO_LOAD
from plimsoll.domain.keys.strategy import FullGrid, Search, Stage, Strategy
from plimsoll.domain.keys.trigger import Approve
from plimsoll.domain.keys.variant import Download
from plimsoll.services.campaign.open.planning import Plan, make_plan

RATE = HostRate(kind="c5.2xlarge", vcpus=8, usd_per_hour=180.0)


def planned(strategy: Strategy, budget: float | None = None) -> Plan:
    """Plan up to 16 cells of 20 s on four hosts: 4 USD a cell."""
    definition = instant_definition(variants=2, loads=4, repeats=2)
    chosen = definition.model_copy(update={"strategy": strategy, "budget": budget})
    return make_plan(resolve(chosen), tariff=Tariff(node=RATE, load=RATE, source="a table"))


def line_about(plan: Plan, capsys: pytest.CaptureFixture[str], about: str) -> str:
    show(plan, ())
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith(about)]
    return line.removeprefix(about)


def test_a_full_grid_costs_what_all_its_cells_cost(capsys: pytest.CaptureFixture[str]) -> None:
    assert line_about(planned(FullGrid()), capsys, "Estimated cost of the hosts under load: ").startswith("64.00 USD (")
    assert line_about(planned(FullGrid(), 63.0), capsys, "Budget: ") == (
        "63.00 USD, less than the estimate: not all cells will run"
    )
    assert line_about(planned(FullGrid(), 64.0), capsys, "Budget: ") == "64.00 USD"


@pytest.mark.parametrize(("tries", "often"), [(2, "once"), (3, "2 times")])
def test_the_first_run_of_a_disturbed_cell_is_none_of_those_again(
    tries: int, often: str, capsys: pytest.CaptureFixture[str]
) -> None:
    definition = instant_definition().model_copy(update={"disturbance": Disturbance(tries=tries)})
    told = line_about(make_plan(resolve(definition)), capsys, "A cell that noise of the machine disturbs ")
    assert told == f"runs again by itself, {often} at most: not counted here"


def test_a_stage_without_a_load_shows_neither_a_service_level_nor_a_rate(capsys: pytest.CaptureFixture[str]) -> None:
    repair = Stage.model_validate({"id": "repair", "loads": "none", "action": {"name": "repair"}})
    definition = instant_definition().model_copy(update={"stages": (Stage(id="healthy"), repair)})
    show(make_plan(resolve(definition)), ())
    healthy, repaired = capsys.readouterr().out.split("Stage repair")
    assert "Service level: " in healthy
    assert "no load" in repaired
    assert "Service level: " not in repaired
    assert "0/s" not in repaired


def test_a_definition_of_an_action_alone_counts_no_loads(capsys: pytest.CaptureFixture[str]) -> None:
    alone = {"loads": NO_LOAD, "action": Action(name="repair"), "repeats": 3}
    show(make_plan(resolve(instant_definition(variants=2).model_copy(update=alone))), ())
    assert "\n6 cells: 2 variants × 3 repeats\n" in f"\n{capsys.readouterr().out}"


def test_a_search_costs_what_the_cells_cost_that_it_chooses(capsys: pytest.CaptureFixture[str]) -> None:
    plan = planned(Search())
    assert 4 * plan.estimate.least < 4 * plan.estimate.likely < 64
    likely = f"likely {4 * plan.estimate.likely:.2f} USD, at most 64.00 USD ("
    assert line_about(plan, capsys, "Estimated cost of the hosts under load: ").startswith(likely)


@pytest.mark.parametrize(
    ("bound", "less", "remark"),
    [
        ("least", 0.5, ", less than the estimate: not all cells will run"),
        ("likely", 0.5, ", less than the likely cost: probably not all cells that are needed will run"),
        ("most", 0.5, ", less than the greatest cost: perhaps not all cells that are needed will run"),
        ("most", 0.0, ""),
    ],
)
def test_a_budget_is_compared_with_what_a_search_takes(
    capsys: pytest.CaptureFixture[str], bound: str, less: float, remark: str
) -> None:
    budget = 4.0 * getattr(planned(Search()).estimate, bound) - less
    assert line_about(planned(Search(), budget), capsys, "Budget: ").partition(" USD")[2] == remark


@pytest.mark.parametrize(
    ("above", "usd_per_hour", "answer"),
    [
        (127, 180, "needed before hosts are launched, since the greatest cost, populating included, is 11,584.00 USD"),
        (11584, 180, "not needed, since the greatest cost, populating included, is 11,584.00 USD: no more than"),
        (127, None, "needed before hosts are launched, since the price of its hosts is not known"),
    ],
)
def test_a_plan_says_whether_the_campaign_needs_an_approval_and_by_which_figure(
    capsys: pytest.CaptureFixture[str], above: float, usd_per_hour: float | None, answer: str
) -> None:
    plan = planned(Search())
    rate = RATE.model_copy(update={"usd_per_hour": usd_per_hour})
    campaign = replace(plan.campaign, approve=Approve.model_validate({"above": f"{above} USD"}))
    asking = replace(plan, campaign=campaign, tariff=Tariff(node=rate, load=rate, source="a table"))
    assert line_about(asking, capsys, "Approval: ").startswith(answer)
    told = asking.as_json()["cost"]["approval"]
    assert (told["above_usd"], told["is_needed"]) == (above, answer.startswith("needed"))
    assert told["usd_at_most"] == (11584 if usd_per_hour else None)
    assert "approval" not in plan.as_json()["cost"]


def test_what_was_published_stands_beside_what_is_done_here(capsys: pytest.CaptureFixture[str]) -> None:
    rows = (
        PublishedRow(what="nodes", published="3 hosts"),
        PublishedRow(what="driver", published="driver 3", here="driver 4"),
        PublishedRow(what="region", here="eu-west-1"),
    )
    published = Published(publication="Somebody (2020)", rows=rows)
    plan = make_plan(
        resolve(instant_definition(variants=2, loads=1, repeats=1).model_copy(update={"published": published}))
    )
    show(plan, ())
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    assert [line for line in lines if len(line) == 3][-3:] == [
        ["nodes", "3 hosts", "as published"],
        ["driver", "driver 3", "driver 4"],
        ["region", "not published", "eu-west-1"],
    ]
    assert [row.get("here") for row in plan.as_json()["published"]["rows"]] == [None, "driver 4", "eu-west-1"]


def test_what_is_to_be_downloaded_is_told_apart_from_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    needed = (
        Download(name="cassandra-stress", size_bytes=53_400_000, is_there=False),
        Download(name="JDK openjdk-8", size_bytes=None, is_there=False),
        Download(name="cassandra 4.0.1", size_bytes=46_000_000, is_there=True),
    )
    show(planned(FullGrid()), (), needed)
    assert [line for line in capsys.readouterr().out.splitlines() if "ownload" in line] == [
        "To download before the first cell, at least 53 MB: cassandra-stress (53 MB), JDK openjdk-8 (size not known "
        "before)",
        "Downloaded already: cassandra 4.0.1",
    ]


def test_a_plan_names_the_downloads_of_databases_and_load_generator_and_fetches_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PLIMSOLL_CACHE", str(tmp_path / "cache"))
    result = CliRunner().invoke(cli, ["plan", "local-tlp", "--json"])
    downloads = json.loads(result.stdout)["downloads"]
    assert [one["name"] for one in downloads if one["name"].startswith("cassandra")] == [
        "cassandra 3.11.19",
        "cassandra 4.0.1",
    ]
    assert {"JDK openjdk-11.0.13", "libraries of Plimsoll's own Java programs"} < {one["name"] for one in downloads}
    assert len({one["name"] for one in downloads}) == len(downloads)
    assert not any(one["is_there"] for one in downloads)
    assert not list((tmp_path / "cache").glob("j*/*"))


def test_a_terminal_obeys_nothing_in_a_title(capsys: pytest.CaptureFixture[str]) -> None:
    plan = planned(FullGrid())
    show(replace(plan, campaign=replace(plan.campaign, title="\x1b]0;mine\x07")), ())
    out = capsys.readouterr().out
    assert out.startswith("\\x1b]0;mine\\x07 (")
    assert not {"\x1b", "\x07"} & set(out)
