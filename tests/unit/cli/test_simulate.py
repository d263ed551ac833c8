"""`plimsoll simulate` as a user gives it."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.campaigns.small_definition import SMALL
from tests.unit.cli.commands import run_command

from plimsoll.bootstrap import load_definition
from plimsoll.domain.campaign.grid import cell_ids, grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.settings import Settings

CAMPAIGNS = Path(__file__).parents[3] / "include" / "campaigns"
DEMO = SMALL.read_text()
SECONDS = load_definition(Settings(), str(SMALL)).timing.duration.total_seconds()


@pytest.fixture
def simulate(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Run the command on a search over the demo's cells, or on another definition.

    Returns exit code, standard output, standard error.
    """
    (tmp_path / "searched.yaml").write_text(f"{DEMO}\nstrategy: search\n")

    def run(*arguments: Any, of: Any = tmp_path / "searched.yaml") -> Any:
        return run_command(monkeypatch, capsys, "simulate", of, *arguments)

    return run


@pytest.fixture
def outcomes(tmp_path: Path) -> Any:
    """Provide a file of outcomes: every cell met but those that are given."""
    file = tmp_path / "outcomes.json"
    definition = load_definition(Settings(), str(SMALL))

    def write(**given: Any) -> Any:
        known = {cell.id: given.get(cell.id.replace("-", "_"), ["met"]) for cell in grid(resolve(definition))}
        file.write_text(json.dumps(known))
        return file

    return write


def test_outcomes_that_are_given_are_played(simulate: Any, outcomes: Any) -> None:
    code, out, _ = simulate("--outcomes", outcomes(g1_00100_r1=["invalid", "missed"]), "--json")
    played = json.loads(out)
    assert code == 0
    assert played["capacities"]["g1"] == {"kind": "none", "capacity_ops_s": None}
    assert played["capacities"]["shenandoah"]["kind"] == "at-least"
    assert played["not_needed"] == {"g1-003k-r1": "g1-00100-r1"}
    assert sorted(played["ran"]) == ["g1-00100-r1", "shenandoah-00100-r1", "shenandoah-003k-r1"]
    assert played["attempts"] == 4
    assert (played["cells"], played["invalid"], played["waiting"]) == (4, [], [])


def test_options_of_synthetic_campaigns_are_refused_beside_outcomes(simulate: Any, outcomes: Any) -> None:
    code, _, err = simulate("--outcomes", outcomes(), "--runs", "10", "--seed", "1")
    assert code == 2
    assert "--runs: is about synthetic campaigns" in err
    assert "--seed: is about synthetic campaigns" in err
    assert "--width" not in err


def test_a_person_reads_capacities_and_what_was_left_out(simulate: Any, outcomes: Any) -> None:
    code, out, _ = simulate("--outcomes", outcomes(g1_00100_r1=["missed"]))
    assert code == 0
    assert "3 of 4 cells ran, in 3 attempts; 1 was not needed" in out


def test_a_cell_without_a_valid_outcome_is_said_to_be_waited_for(simulate: Any, outcomes: Any) -> None:
    code, out, _ = simulate("--outcomes", outcomes(g1_00100_r1=["invalid"]))
    assert code == 0
    assert (
        "3 of 4 cells ran (1 without a valid attempt), in 3 attempts; 0 were not needed\n"
        "1 cell waits for a valid attempt: g1-00100-r1; 1 more may run after it"
    ) in out
    assert json.loads(simulate("--outcomes", outcomes(g1_00100_r1=["invalid"]), "--json")[1])["waiting"] == [
        "g1-00100-r1"
    ]


def test_of_many_cells_that_wait_a_person_reads_the_first_and_their_number(simulate: Any, tmp_path: Path) -> None:
    definition = load_definition(Settings(), "azul-2022")
    (tmp_path / "none.json").write_text(json.dumps({cell.id: ["invalid"] for cell in grid(resolve(definition))}))
    code, out, _ = simulate("--outcomes", tmp_path / "none.json", of="azul-2022")
    assert code == 0
    [line_on_waiting] = [line for line in out.splitlines() if "wait" in line]
    assert line_on_waiting.startswith("275 cells wait for a valid attempt: ")
    assert line_on_waiting.endswith(" and 265 more")
    assert line_on_waiting.count("-r") == 10


def test_of_cells_that_ran_without_a_valid_attempt_those_that_others_decided_do_not_wait(
    simulate: Any, tmp_path: Path
) -> None:
    """A search that runs five repeats at a time: one of them misses, the other four are invalid."""
    text = (CAMPAIGNS / "azul-2022-search.yaml").read_text()
    (tmp_path / "five.yaml").write_text(
        text.replace("strategy: search", "strategy: {name: search, repeats_at_once: 5}")
    )
    definition = load_definition(Settings(), str(tmp_path / "five.yaml"))
    known = {cell.id: ["met"] for cell in grid(resolve(definition))}
    known |= {one: ["invalid", "met"] for one in known if one.startswith("zgc")}
    known |= {one: ["missed"] for one in known if one.startswith("zgc") and one.endswith("r1")}
    known |= {one: ["invalid"] for one in known if one.startswith("g1")}
    (tmp_path / "o.json").write_text(json.dumps(known))
    answer = json.loads(simulate("--outcomes", tmp_path / "o.json", "--json", of=tmp_path / "five.yaml")[1])
    assert not set(answer["ran"]) & set(answer["not_needed"])
    assert (len(answer["ran"]), len(answer["not_needed"]), len(answer["invalid"])) == (175, 50, 9)
    assert sorted(answer["waiting"]) == [f"g1-020k-r{repeat}" for repeat in range(1, 6)]
    out = simulate("--outcomes", tmp_path / "o.json", of=tmp_path / "five.yaml")[1]
    assert "175 of 275 cells ran (9 without a valid attempt), in 175 attempts; 50 were not needed" in out
    assert "5 cells wait for a valid attempt: g1-020k-r" in out
    assert "; 50 more may run after them" in out


def test_outcomes_play_all_stages_and_synthetic_campaigns_are_refused_with_the_definitions_path(
    simulate: Any, tmp_path: Path
) -> None:
    definition = load_definition(Settings(), "datastax-2021")
    (tmp_path / "o.json").write_text(json.dumps({cell_id: ["met"] for cell_id in cell_ids(resolve(definition))}))
    code, out, _ = simulate("--outcomes", tmp_path / "o.json", of="datastax-2021")
    assert code == 0
    assert "Loads from earlier stages" in out
    path = CAMPAIGNS / "datastax-2021.yaml"
    code, _, err = simulate("--runs", 10, of=path)
    assert code == 2
    assert f"{path}: refused, 1 problem" in err
    assert "has 3 stages, and synthetic campaigns are drawn for one stage alone" in err


def test_invalid_attempts_are_no_cells(simulate: Any) -> None:
    found = json.loads(simulate("--runs", 50, "--invalid", 0.5, "--json")[1])
    assert found["cells_mean"] <= found["cells_p95"] <= 4
    assert found["attempts_mean"] > found["cells_mean"]


def test_synthetic_campaigns_say_cells_and_how_often_the_answer_differs(simulate: Any) -> None:
    code, out, _ = simulate("--runs", 50, "--json")
    assert code == 0
    assert set(json.loads(out)) == {
        "runs", "cells_mean", "cells_p95", "attempts_mean", "rounds_mean", "cell_hours", "differs_share",
        "grid_differs_share",
    }  # fmt: skip
    assert json.loads(out)["cell_hours"] == pytest.approx(json.loads(out)["attempts_mean"] * SECONDS / 3600)
    assert json.loads(out)["differs_share"] == 0


@pytest.mark.parametrize(
    ("strategy", "most"), [("full-grid", 0.5), ("search", 0.3), ("{name: search, mode: fast}", 0.16)]
)
def test_loads_that_end_once_they_have_missed_take_a_part_of_the_published_grids_time(
    simulate: Any, tmp_path: Path, strategy: str, most: float
) -> None:
    text = (CAMPAIGNS / "azul-2022-search.yaml").read_text()
    assert "\nstrategy: search\n" in text
    (tmp_path / "ended.yaml").write_text(text.replace("\nstrategy: search\n", f"\nstrategy: {strategy}\n"))
    published = ("--runs", 20, "--capacities", "published", "--json")
    whole = json.loads(simulate(*published, of="azul-2022")[1])["cell_hours"]
    ended = json.loads(simulate(*published, "--stop-decided", of=tmp_path / "ended.yaml")[1])
    assert whole == pytest.approx(275 * 2.5)
    assert ended["cell_hours"] <= most * whole


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "the file: is []"),
        ('{"g1-00100-r1": "met"}', "g1-00100-r1: is 'met'"),
        ('{"g1-00100-r1": ["good"], "g1-003k-r1": ["met", "bad"]}', "g1-00100-r1[0]: is 'good'"),
        ('{"g1-00100-r1": ["good"], "g1-003k-r1": ["met", "bad"]}', "g1-003k-r1[1]: is 'bad'"),
        ('{"x": ["met"]}', "x: is none of the definition's cells"),
        ('{"x": ["met"]\n"y": []}', "the file: is no JSON: Expecting ',' delimiter: line 2"),
        ('{"x": ["met"], "x": ["missed"]}', "the file: has 'x' twice"),
    ],
)
def test_a_file_of_something_else_is_refused_with_its_place(
    simulate: Any, tmp_path: Path, content: Any, message: Any
) -> None:
    (tmp_path / "wrong.json").write_text(content)
    code, _, err = simulate("--outcomes", tmp_path / "wrong.json")
    assert code == 2
    assert message in err
    assert "wrong.json" in err or "outcomes" in err


def test_a_file_that_is_not_there_is_refused(simulate: Any, tmp_path: Path) -> None:
    code, _, err = simulate("--outcomes", tmp_path / "nothing.json")
    assert code == 2
    assert "--outcomes: can't be read: No such file or directory (give the path of a JSON file" in err
    assert "write an object" not in err


@pytest.mark.parametrize("width", ["inf", "nan", "0", "1001"])
def test_a_width_out_of_bounds_is_refused(simulate: Any, width: str) -> None:
    code, _, err = simulate("--width", width)
    assert code == 2
    assert "--width" in err


def test_capacities_of_another_shape_are_refused(simulate: Any) -> None:
    code, _, err = simulate("--capacities", "round")
    assert code == 2
    assert "allowed: uniform, published" in err
