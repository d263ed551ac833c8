"""`plimsoll simulate` as a user gives it."""

import json
from pathlib import Path
from typing import Any

import pytest

from plimsoll import cli
from plimsoll.bootstrap import load_definition
from plimsoll.domain.cell import grid
from plimsoll.settings import Settings

DEMO = (Path(__file__).parents[3] / "include" / "campaigns" / "demo.yaml").read_text()


@pytest.fixture
def simulate(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Run the command on a search over the demo's cells: exit code, standard output, standard error."""
    (tmp_path / "searched.yaml").write_text(f"{DEMO}\nstrategy: search\n")

    def run(*arguments: Any) -> Any:
        monkeypatch.setattr("sys.argv", ["plimsoll", "simulate", str(tmp_path / "searched.yaml"), *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.app()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run


@pytest.fixture
def outcomes(tmp_path: Path) -> Any:
    """A file of outcomes: every cell met but those that are given."""
    file = tmp_path / "outcomes.json"
    definition = load_definition(Settings(), "demo")

    def write(**given: Any) -> Any:
        known = {cell.id: given.get(cell.id.replace("-", "_"), ["met"]) for cell in grid(definition)}
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
        "3 of 4 cells ran, in 3 attempts; 0 were not needed\n1 may still run: g1-00100-r1 had no valid outcome" in out
    )


def test_invalid_attempts_are_no_cells(simulate: Any) -> None:
    found = json.loads(simulate("--runs", 50, "--invalid", 0.5, "--json")[1])
    assert found["cells_mean"] <= found["cells_p95"] <= 4
    assert found["attempts_mean"] > found["cells_mean"]


def test_synthetic_campaigns_say_cells_and_how_often_the_answer_differs(simulate: Any) -> None:
    code, out, _ = simulate("--runs", 50, "--json")
    assert code == 0
    assert set(json.loads(out)) == {
        "runs", "cells_mean", "cells_p95", "attempts_mean", "rounds_mean", "differs_share", "grid_differs_share",
    }  # fmt: skip
    assert json.loads(out)["differs_share"] == 0


@pytest.mark.parametrize(
    ("content", "told"),
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
    simulate: Any, tmp_path: Path, content: Any, told: Any
) -> None:
    (tmp_path / "wrong.json").write_text(content)
    code, _, err = simulate("--outcomes", tmp_path / "wrong.json")
    assert code == 2
    assert told in err
    assert "wrong.json" in err or "outcomes" in err


def test_a_file_that_is_not_there_is_refused(simulate: Any, tmp_path: Path) -> None:
    code, _, err = simulate("--outcomes", tmp_path / "nothing.json")
    assert code == 2
    assert "No such file" in err


def test_capacities_of_another_shape_are_refused(simulate: Any) -> None:
    code, _, err = simulate("--capacities", "round")
    assert code == 2
    assert "allowed: uniform, published" in err
