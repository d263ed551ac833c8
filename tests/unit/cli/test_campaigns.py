"""`plimsoll run`, `status` and `campaigns`."""

import json
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from zipfile import is_zipfile

import pytest
from tests.unit.cli.commands import INSTANT, Command, settings_in

from plimsoll import cli
from plimsoll.domain.hosts.owner import owner_since
from plimsoll.services.campaign.state.runs import RUNS, Run, digest_of
from plimsoll_airflow.runs.ownership import CampaignRunOwner


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a store with the complete campaign `nearest-1`."""
    folder = tmp_path_factory.mktemp("ran")
    (folder / "instant.yaml").write_text(INSTANT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["plimsoll", "run", str(folder / "instant.yaml"), "--new-campaign", "nearest-1"])
        for name, value in settings_in(folder).items():
            patch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            cli.app()
    assert not ended.value.code
    return folder / "store"


@pytest.fixture
def complete(ran: Path, tmp_path: Path) -> None:
    """Provide the complete campaign in a store of the test's own."""
    shutil.copytree(ran, tmp_path / "store")


def test_an_unknown_campaign_is_an_error_that_says_how_to_find_one(plimsoll: Command, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    for name in ("demo-none", "../demo", "/demo"):
        code, _, err = plimsoll("status", name)
        assert code == 2
        assert f"there is no campaign '{name}'" in err
        assert "plimsoll campaigns" in err


@pytest.mark.usefixtures("complete")
def test_the_list_of_campaigns_has_state_date_and_definition_of_each(plimsoll: Command, tmp_path: Path) -> None:
    code, out, _ = plimsoll("campaigns", "list")
    assert code == 0
    assert re.search(r"│ nearest-1 +│ complete +│ \d{4}-\d\d-\d\d \d\d:\d\d UTC │ demo +│", out)
    [one] = json.loads(plimsoll("campaigns", "list", "--json")[1])
    assert (one["campaign_id"], one["state"], one["definition"], one["note"]) == ("nearest-1", "complete", "demo", "")
    assert one["started_at"]


def test_a_campaign_that_somebody_works_on_waits_and_one_that_nobody_runs_is_incomplete(
    plimsoll: Command, tmp_path: Path
) -> None:
    cells = ("--cells", "g1-00100-r1")
    assert plimsoll("run", tmp_path / "instant.yaml", "--new-campaign", "mine-1", *cells)[0] == 0

    def listed() -> tuple[str, str]:
        [one] = json.loads(plimsoll("campaigns", "--json")[1])
        return one["state"], one.get("waits_for", "")

    assert listed() == ("incomplete", "")
    now, run = datetime.now(UTC), CampaignRunOwner("demo", "manual", "here").token
    record = Run(owner=run, since=now, until=now + timedelta(hours=1))
    file = tmp_path / "store" / RUNS.key("mine-1", digest_of(run))
    file.parent.mkdir(parents=True)
    file.write_text(record.model_dump_json())
    assert listed() == ("waiting", f"the next step of {owner_since(run, now)}")
    file.write_text(record.model_copy(update={"until": now}).model_dump_json())
    assert listed() == ("incomplete", "")


@pytest.mark.usefixtures("complete")
def test_a_campaign_that_can_not_be_read_is_named_beside_the_others(plimsoll: Command, tmp_path: Path) -> None:
    (tmp_path / "store" / "torn").mkdir()
    (tmp_path / "store" / "torn" / "definition.yaml").write_text("name: [")
    code, out, err = plimsoll("campaigns")
    assert code == 1
    assert "nearest-1" in out
    assert "torn: " in err
    assert [one["campaign_id"] for one in json.loads(plimsoll("campaigns", "--json")[1])] == ["nearest-1"]


def test_names_in_tables_are_not_cut_in_a_pipe(plimsoll: Command, tmp_path: Path) -> None:
    campaign = f"a-campaign-with-{'-'.join(['a-long-name'] * 4)}"
    long = INSTANT.replace("id: shenandoah", f"id: {'collector-' * 3}a").replace("name: demo", f"name: {'d-' * 20}o")
    (tmp_path / "long.yaml").write_text(long.replace("title: G1", f"title: {'Very ' * 40}G1"))
    assert plimsoll("run", tmp_path / "long.yaml", "--new-campaign", campaign)[0] == 0
    out = plimsoll("campaigns")[1]
    assert campaign in out
    assert "Very " * 40 in out
    assert f"{'d-' * 20}o" in out


@pytest.mark.usefixtures("complete")
def test_a_campaign_and_a_cell_that_are_nearly_right_are_named(plimsoll: Command, tmp_path: Path) -> None:
    assert "did you mean 'nearest-1'? `plimsoll campaigns` lists" in plimsoll("status", "nearst-1")[2]
    wrong = plimsoll("run", tmp_path / "instant.yaml", "--campaign", "nearest-1", "--cell", "g1-00100-r2")[2]
    assert "did you mean 'g1-00100-r1'?" in wrong


@pytest.mark.usefixtures("complete")
def test_a_misspelt_campaign_is_not_begun_and_a_new_one_is_no_old_one(plimsoll: Command, tmp_path: Path) -> None:
    for options, output in (
        (
            ["--campaign", "nearst-1"],
            "did you mean 'nearest-1'? a new campaign with this id begins with `--new-campaign nearst-1`",
        ),
        (["--new-campaign", "nearest-1"], "`--campaign nearest-1` continues it"),
        (["--campaign", "nearest-1", "--new-campaign", "second-1"], "give one of them"),
    ):
        code, out, err = plimsoll("run", tmp_path / "instant.yaml", *options)
        assert (code, out) == (2, "")
        assert output in err
    assert [one["campaign_id"] for one in json.loads(plimsoll("campaigns", "--json")[1])] == ["nearest-1"]


@pytest.mark.usefixtures("complete")
def test_a_run_is_refused_for_cells_and_campaigns_of_another_definition_before_it_begins(
    plimsoll: Command, tmp_path: Path
) -> None:
    (tmp_path / "other.yaml").write_text(INSTANT.replace("name: demo", "name: other").replace("seed: 1", "seed: 2"))
    before = plimsoll("status", "nearest-1", "--json")[1]
    code, out, err = plimsoll("run", tmp_path / "other.yaml", "--campaign", "nearest-1")
    assert (code, out) == (2, "")
    assert "nearest-1" in err
    assert "belongs to another definition" in err
    code, out, err = plimsoll("run", tmp_path / "instant.yaml", "--campaign", "nearest-1", "--cells", "zgc-*")
    assert (code, out) == (2, "")
    assert "'zgc-*' fits no cell of 'demo'" in err
    assert plimsoll("status", "nearest-1", "--json")[1] == before


@pytest.mark.usefixtures("complete")
def test_the_status_shows_how_the_service_levels_of_running_loads_fare(plimsoll: Command, tmp_path: Path) -> None:
    assert plimsoll("status")[1].startswith("no cell runs now in ")
    attempt = tmp_path / "store" / "nearest-1" / "cells" / "g1-00100-r1" / "1"
    (attempt / "verdict.json").unlink()
    level = {"level": "99.9/10s/100ms", "judged": 7, "missed": 0, "last_ms": 12.34, "worst_ms": 56.7}
    late = {**level, "level": "50/10s/1ms", "missed": 2, "last_ms": None}
    begun = datetime.now(UTC) - timedelta(seconds=4)
    figures = {"phase": "load", "at": begun.isoformat(), "achieved_ops_s": 99.6, "seconds_left": 81.2}
    (attempt / "progress.json").write_text(json.dumps({**figures, "levels": [level, late]}))

    alone, of_campaign = plimsoll("status")[1], plimsoll("status", "nearest-1")[1]

    assert re.search(r"g1-00100-r1 +│ load +│ 81 s +│ 100 +│ p99.9/10s/100ms +│ so far +│ 12.3 ms +│ 56.7 ms +", alone)
    assert re.search(r"│ p50/10s/1ms +│ no +│ no answer +│ 56.7 ms +│ 2 of 7 +│ \d+ s ago +│", alone)
    assert "shenandoah" not in alone
    assert "Running now in nearest-1" in of_campaign
    assert "`finish_by`" not in of_campaign
    copy = attempt.parents[2] / "definition.yaml"
    copy.write_text(f"{copy.read_text()}finish_by: 2020-01-01T18:00:00+01:00\n")
    assert re.search(r"It ends about .* UTC, .* after `finish_by`", plimsoll("status", "nearest-1")[1])
    [one] = json.loads(plimsoll("status", "--json")[1])
    [cell] = one["cells"]
    assert (one["campaign_id"], cell["cell"]["variant"], cell["runs"]) == ("nearest-1", "g1", True)
    assert cell["progress"]["levels"] == [level, late]


@pytest.mark.usefixtures("complete")
def test_the_status_never_says_that_no_time_is_left_of_what_runs(plimsoll: Command, tmp_path: Path) -> None:
    attempt = tmp_path / "store" / "nearest-1" / "cells" / "g1-00100-r1" / "1"
    (attempt / "verdict.json").unlink()
    begun = (datetime.now(UTC) - timedelta(minutes=10)).isoformat()
    phases = {"provision": begun, "load": begun}
    figures = {"phase": "load", "at": begun, "phases": phases, "seconds_left": 0.0}
    (attempt / "progress.json").write_text(json.dumps(figures))

    of_campaign = " ".join(plimsoll("status", "nearest-1")[1].split())

    assert re.search(r"\(nearest-1\), longer than expected by 0:1\d:\d\d", of_campaign)
    assert re.search(r"longer than expected, by \d+ s", of_campaign.replace("│ │ ", ""))
    assert "│ 0 s" not in of_campaign
    cells = json.loads(plimsoll("status", "nearest-1", "--json")[1])["cells"]
    assert [cell["seconds_over"] > 300 for cell in cells if cell.get("runs")] == [True]


def test_a_run_ends_with_the_answer(plimsoll: Command, tmp_path: Path) -> None:
    code, out, _ = plimsoll("run", tmp_path / "instant.yaml", "--new-campaign", "mine-1")
    assert code == 0
    assert "carry" in out
    assert "its worst interval was" in out
    assert re.search(r"^report: \S+/mine-1/report/report.html$", out, re.M)
    assert plimsoll("report", "mine-1")[1].splitlines()[-12:] == out.splitlines()[-12:]


def test_a_campaign_runs_with_the_values_that_are_set_shows_and_keeps_them(plimsoll: Command, tmp_path: Path) -> None:
    parameters = "parameters: {times: {type: number, default: 1, at_most: 9}}\n"
    (tmp_path / "set.yaml").write_text(INSTANT.replace("repeats: 1", f"{parameters}repeats: $(times)"))
    definition = tmp_path / "set.yaml"

    assert plimsoll("run", definition, "--new-campaign", "set-1", "--set", "times=2")[0] == 0
    assert "\nparameters: times 2\n" in plimsoll("status", "set-1")[1]
    report = tmp_path / "store" / "set-1" / "report"
    assert "times 2 (default 1)" in (report / "report.html").read_text()
    known = json.loads((report / "report.json").read_text())["definition"]
    assert (known["parameters"]["times"]["value"], known["repeats"]) == (2, 2)

    assert "0 cells to run now" in plimsoll("run", definition, "--campaign", "set-1")[1]
    code, _, err = plimsoll("run", definition, "--campaign", "set-1", "--set", "times=1")
    assert code == 2
    assert "parameters.times: campaign 'set-1' began with 2, not 1 (leave it out, or begin a new campaign)" in err


@pytest.mark.usefixtures("complete")
def test_a_bundle_of_a_misspelt_campaign_names_the_one_that_was_meant(plimsoll: Command) -> None:
    code, _, err = plimsoll("bundle", "neares-1")
    assert code == 2
    assert "there is no campaign 'neares-1'" in err
    assert "did you mean 'nearest-1'?" in err


@pytest.mark.usefixtures("complete")
def test_a_bundle_replaces_no_link_and_no_other_file(plimsoll: Command, tmp_path: Path) -> None:
    link, target, other = (tmp_path / name for name in ("link.zip", "kept.zip", "link.zip.part"))
    link.symlink_to(target)
    other.write_text("mine")
    assert plimsoll("bundle", "nearest-1", "-o", link)[0] == 0
    assert link.is_symlink()
    assert is_zipfile(target)
    assert other.read_text() == "mine"
    assert not list(tmp_path.glob(".*"))


@pytest.mark.usefixtures("complete")
@pytest.mark.parametrize("raw", [(), ("--raw",)])
def test_a_bundle_goes_into_a_pipe(plimsoll: Command, tmp_path: Path, raw: tuple[str, ...]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        content = pool.submit(pipe.read_bytes)
        code, out, err = plimsoll("bundle", "nearest-1", "-o", pipe, "--json", *raw)
    assert pipe.is_fifo()
    assert is_zipfile(BytesIO(content.result()))
    # What goes to a pipe may be standard output: nothing follows the bundle there
    assert (code, out, json.loads(err)["bytes"]) == (0, "", len(content.result()))
