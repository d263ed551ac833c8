"""What `plimsoll plan` shows of a campaign, its cost and what keeps it from running."""

import io
import json
import re
import sys
from pathlib import Path

import pytest
from tests.unit.cli.commands import INSTANT, Command

from plimsoll import cli
from plimsoll.adapters.providers.ec2 import Ec2Provider
from plimsoll.domain.text.errors import Problem


def test_the_published_campaign_is_planned_although_nobody_can_ask_its_provider(plimsoll: Command, cloud: None) -> None:
    code, out, _ = plimsoll("plan", "azul-2022", "--json")
    plan = json.loads(out)
    assert code == 2, "it would not run with the software that is here"
    assert plan["totals"]["cells"] == len(plan["cells"]) == 275
    assert plan["totals"]["cell_hours"] == 687.5
    assert "'ec2'" in plan["notes"][0]


def test_a_campaign_of_weeks_is_planned_with_a_warning(plimsoll: Command, tmp_path: Path) -> None:
    (tmp_path / "long.yaml").write_text(INSTANT.replace("repeats: 1", "repeats: 30").replace("45s", "120015s"))
    code, out, _ = plimsoll("plan", tmp_path / "long.yaml")
    assert code == 0
    assert "Note: it takes at least 23.8 weeks under load, 1 cell at a time: raise `max_parallel`" in out
    (tmp_path / "long.yaml").write_text((tmp_path / "long.yaml").read_text() + "strategy: search\n")
    assert re.search(
        r"Note: it is likely to take \d+\.\d weeks under load, 1 cell", plimsoll("plan", tmp_path / "long.yaml")[1]
    )


def test_the_plan_for_people_shows_matrix_hours_hosts_and_time(plimsoll: Command, cloud: None) -> None:
    code, out, _ = plimsoll("plan", "azul-2022", "--parallel", 55)
    assert code == 2, "it would not run with the software that is here"
    for text in ("275 cells", "687.5 cell-hours", "220 hosts", "120000/s", "shenandoah", "below 100ms"):
        assert text in out


def test_the_plan_of_a_ramp_shows_what_it_takes_at_least_and_short_hours_to_three_digits(
    plimsoll: Command, tmp_path: Path
) -> None:
    plain = re.sub(r"timing: .*", "timing: {duration: 25s, warmup: 5s}", (tmp_path / "instant.yaml").read_text())
    (tmp_path / "ramp.yaml").write_text(f"{plain}\nstrategy: ramp\n")
    code, out, _ = plimsoll("plan", tmp_path / "ramp.yaml")
    assert code == 0
    assert "  least: 2 cells, 0.0139 cell-hours under load, 0.0556 host-hours\n" in out


def test_the_plan_says_that_hosts_are_kept(plimsoll: Command, tmp_path: Path) -> None:
    plain = (tmp_path / "instant.yaml").read_text()
    (tmp_path / "kept.yaml").write_text(f"{plain}\ncluster_scope: campaign\n")
    code, out, _ = plimsoll("plan", tmp_path / "kept.yaml", "--parallel", 1)
    assert code == 0
    assert "1 cell at a time: 4 hosts kept for the campaign, " in out


def test_a_definition_that_can_run_here_has_no_note_but_that_its_load_is_low_for_p99_9(
    plimsoll: Command, tmp_path: Path
) -> None:
    code, out, _ = plimsoll("plan", tmp_path / "instant.yaml", "--json")
    assert code == 0
    assert json.loads(out)["notes"] == [
        "p99.9 of an interval of 10s is decided by fewer than 10 operations at 100 ops/s: 1,000 ops/s would do, or "
        "intervals of 100s at 100 ops/s"
    ]


def test_without_credentials_the_plan_says_so_and_shows_what_the_campaign_costs(plimsoll: Command, cloud: None) -> None:
    code, out, err = plimsoll("plan", "azul-2022")
    assert code == 2, "it would not run"
    for text in ("1,421.75 USD", "r5d.2xlarge 0.576 USD/h", "256 vCPUs at once", "price table of 20", "Budget: 2,000"):
        assert text in out
    assert "'ec2' can't be asked from here, nothing was checked with it: connection 'aws_default'" in out
    azul = (Path(__file__).parents[3] / "include" / "campaigns" / "azul-2022.yaml").read_text().splitlines()
    line = azul.index("load_generator:") + 2
    assert azul[line - 1].strip().startswith("name: plimsoll-stress"), "the line that the problem is to name"
    assert f"load_generator.name (line {line}): there is no 'plimsoll-stress' here" in err


def test_problems_of_a_plan_come_last(cloud: None, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    for stream in ("stdout", "stderr"):
        monkeypatch.setattr(sys, stream, terminal)
    monkeypatch.setattr(sys, "argv", ["plimsoll", "plan", "azul-2022"])
    with pytest.raises(SystemExit):
        cli.app()
    text = terminal.getvalue()
    assert 0 < text.rindex("\nNote: ") < text.index("\nplimsoll: definition 'azul-2022': refused")


def test_credentials_that_are_missing_are_no_problem_of_the_definition(
    plimsoll: Command, cloud: None, tmp_path: Path
) -> None:
    azul = (Path(__file__).parents[3] / "include" / "campaigns" / "azul-2022.yaml").read_text()
    instant = azul.replace("database: cassandra", "database: instant")
    (tmp_path / "cloud.yaml").write_text(instant.replace("name: plimsoll-stress", "name: instant"))
    code, out, err = plimsoll("plan", tmp_path / "cloud.yaml")
    assert err == ""
    assert code == 0
    assert "nothing was checked with it" in out


def test_without_credentials_what_needs_no_provider_is_checked_all_the_same(
    plimsoll: Command, cloud: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "nowhere" / "store"))
    code, out, err = plimsoll("plan", "azul-2022")
    assert (code, "nothing was checked with it" in out) == (2, True)
    assert f"store {tmp_path}/nowhere/store: the result store can't be made: there is no folder for it" in err


def test_the_plan_as_json_has_the_cost_and_who_says_so(plimsoll: Command, cloud: None) -> None:
    plan = json.loads(plimsoll("plan", "azul-2022", "--json")[1])
    assert plan["cost"]["usd"] == pytest.approx(1421.75)
    assert plan["cost"]["budget_usd"] == 2000
    assert plan["cost"]["tariff"]["node"] == {"kind": "r5d.2xlarge", "vcpus": 8, "usd_per_hour": 0.576}
    assert plan["totals"]["vcpus"] == 256


def test_what_a_campaign_would_take_is_shown_beside_what_keeps_it_from_running(
    plimsoll: Command, cloud: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Problem("provider.options.image", "there is no image", "name one")
    monkeypatch.setattr(Ec2Provider, "check", lambda *_: [problem])
    code, out, err = plimsoll("plan", "azul-2022")
    assert code == 2
    assert "1,421.75 USD" in out
    assert "there is no image" in err
    assert "there is no image" in json.loads(plimsoll("plan", "azul-2022", "--json")[1])["problems"][0]


def test_where_hosts_cost_nothing_no_money_is_shown(plimsoll: Command, tmp_path: Path) -> None:
    _, out, _ = plimsoll("plan", tmp_path / "instant.yaml")
    assert "USD" not in out


def test_the_shipped_actions_are_planned_with_their_hosts(plimsoll: Command) -> None:
    _, out, _ = plimsoll("plan", "local-actions", "--json")
    plan = json.loads(out)
    assert [(cell["stage"], cell["action"]["name"]) for cell in plan["cells"]] == [
        ("add", "add-node"),
        ("replace", "replace-node"),
    ]
    assert plan["totals"]["hosts"] == 5, "three nodes, a spare host, a load host"
    assert plan["totals"]["load_time_s"] < 600


def test_people_read_what_is_done_and_when(plimsoll: Command) -> None:
    _, out, _ = plimsoll("plan", "local-actions")
    assert "Action: add-node, 40s after the start of the load\n" in out
    assert "p99 of every 10s interval during the action below 1s" in out


def test_the_plan_is_that_of_the_values_that_are_set(plimsoll: Command, tmp_path: Path) -> None:
    parameters = "parameters: {times: {type: number, default: 1, at_most: 9}}\n"
    plain = (tmp_path / "instant.yaml").read_text()
    (tmp_path / "set.yaml").write_text(plain.replace("repeats: 1", f"{parameters}repeats: $(times)"))
    code, out, _ = plimsoll("plan", tmp_path / "set.yaml", "--set", "times=3")
    assert (code, "Parameters: times 3 (default 1)\n" in out) == (0, True)
    planned = json.loads(plimsoll("plan", tmp_path / "set.yaml", "--json", "--set", "times=3")[1])
    assert (planned["parameters"], planned["totals"]["repeats"]) == ({"times": 3}, 3)
    code, _, err = plimsoll("plan", tmp_path / "set.yaml", "--set", "times=10")
    assert (code, "parameters.times: must be at most 9; found 10" in err) == (2, True)
