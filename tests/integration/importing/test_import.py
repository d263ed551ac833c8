"""Runs of other tools from files to the report, by the commands that a person gives."""

import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from plimsoll.adapters.code_version import code_version
from plimsoll.cli import cli
from plimsoll.domain.text.errors import StoreError

SAMPLES = Path(__file__).parents[2] / "samples"
DESCRIPTION = """\
campaign: samples-1
source: samples of load generators
environment: {kernel: "5.15"}
operations: {head: reads}
runs:
  - {variant: stress, load: 500/s, files: [runs/cassandra-stress.hdr]}
  - {variant: latte, load: 500/s, files: [runs/latte.json.gz]}
definition:
  name: samples
  title: Samples
  system: {version: 5.0.9, nodes: 1}
  variants:
    - {id: stress, jvm: {jdk: openjdk-17.0.9, collector: G1, heap: 1G}}
    - {id: latte, jvm: {jdk: openjdk-17.0.9, collector: G1, heap: 1G}}
  loads: [500/s]
  workload: {replication_factor: 1}
  timing: {duration: 60s, warmup: 20s}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "store"))
    (tmp_path / "runs").mkdir()
    for name in ("cassandra-stress.hdr", "latte.json.gz", "tlp-stress.csv"):
        shutil.copy(SAMPLES / name, tmp_path / "runs" / name)
    (tmp_path / "import.yaml").write_text(DESCRIPTION)
    return tmp_path


def plimsoll(*arguments: object) -> str:
    result = CliRunner().invoke(cli, [str(one) for one in arguments])
    if result.exception is not None:
        raise result.exception
    return result.stdout


def stored(folder: Path, cell: str, attempt: int, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        (folder / "store" / "samples-1" / "cells" / cell / str(attempt) / name).read_text()
    )
    return found


def test_a_store_that_has_no_folder_to_lie_in_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLIMSOLL_STORE", str(folder / "no" / "where"))
    with pytest.raises(StoreError, match="the result store can't be made: there is no folder for it"):
        plimsoll("import", folder / "import.yaml")
    assert not (folder / "no").exists()


def test_from_files_to_a_report_that_says_what_is_unknown_and_again(folder: Path) -> None:
    answer = json.loads(plimsoll("import", folder / "import.yaml", "--json"))
    assert answer["campaign_id"] == "samples-1"
    assert answer["cells"] == {"stress-00500-r1": "missed", "latte-00500-r1": "met"}
    assert answer["warnings"].keys() == answer["cells"].keys()
    verdict = stored(folder, "stress-00500-r1", 1, "verdict.json")
    assert verdict["levels"][0]["judged"] == 4
    assert verdict["maxima_by_operation"].keys() == {"reads", "writes"}
    assert any("errors count as latencies" in warning for warning in verdict["warnings"])
    assert any("not run by Plimsoll" in warning for warning in verdict["warnings"])
    assert {check["name"] for check in verdict["checks"]} >= {"intervals", "gaps", "percentiles known"}
    attempt = stored(folder, "stress-00500-r1", 1, "attempt.json")
    assert attempt["code_version"] == verdict["code_version"] == code_version()
    definition = folder / "store" / "samples-1" / "definition.yaml"
    assert attempt["definition_sha256"] == sha256(definition.read_bytes()).hexdigest()
    manifest = stored(folder, "stress-00500-r1", 1, "manifest.json")
    assert [one["path"] for one in manifest["files"]] == ["raw/imported/runs/cassandra-stress.hdr"]
    assert stored(folder, "latte-00500-r1", 1, "provenance.json")["format"] == "latte report (JSON)"

    again = json.loads(plimsoll("rejudge", "samples-1", "--jobs", 1, "--json"))["attempts"]
    assert [(one["after"], one["same"]) for one in again] == [("met", True), ("missed", True)]

    mixed = CliRunner().invoke(cli, ["report", "samples-1"])
    assert "one measure: expected response times alone or service times alone" in str(mixed.exception)
    shutil.copy(SAMPLES / "cassandra-stress.hdr", folder / "runs" / "again.hdr")
    alike = DESCRIPTION.replace("samples-1", "samples-2").replace("runs/latte.json.gz", "runs/again.hdr")
    (folder / "alike.yaml").write_text(alike)
    plimsoll("import", folder / "alike.yaml")
    plimsoll("report", "samples-2")
    page = (folder / "store" / "samples-2" / "report" / "report.html").read_text()
    assert "Imported, not run by Plimsoll:" in page
    assert "definition: workload.partitions" in page
    assert "read as cassandra-stress HDR log. Values are taken to be in ns: cassandra-stress writes ns." in page

    # The same files again change nothing; other files are another attempt, and the old one stays.
    assert plimsoll("import", folder / "import.yaml").count("there already") == 2
    shutil.copy(folder / "runs" / "tlp-stress.csv", folder / "runs" / "latte.json.gz")
    assert "samples-1/latte-00500-r1/2: invalid" in plimsoll("import", folder / "import.yaml")
    assert stored(folder, "latte-00500-r1", 1, "verdict.json")["met"] is True

    compared = json.loads(plimsoll("compare", "samples-2", "samples-2", "--pair", "stress=latte", "--json"))
    assert compared["capacity"][0]["variants"] == {"a": "stress", "b": "latte"}
    assert "nothing can be said of a difference" in compared["answers"][0]


def test_a_run_that_can_not_be_judged_closes_the_gate(folder: Path) -> None:
    text = DESCRIPTION.replace("runs/latte.json.gz", "runs/tlp-stress.csv")
    (folder / "import.yaml").write_text(text)
    assert "latte-00500-r1/1: invalid" in plimsoll("import", folder / "import.yaml")
    result = CliRunner().invoke(cli, ["report", "samples-1"])
    assert "import other files for: latte-00500-r1" in str(result.exception)


@pytest.mark.parametrize(
    ("old", "new", "refusal"),
    [
        ("load: 500/s, files: [runs/cassandra", "load: 500/s, files: [gone/cassandra", "no file is found by 'gone/"),
        ("[runs/latte.json.gz]", "[runs/cassandra-stress.hdr]", "is found for the cells stress-00500-r1 and latte-"),
        ("operations:", "format: csv\noperations:", "'csv' is unknown"),
    ],
)
def test_what_can_not_be_imported_is_refused_before_anything_is_stored(
    folder: Path, old: str, new: str, refusal: str
) -> None:
    (folder / "import.yaml").write_text(DESCRIPTION.replace(old, new))
    result = CliRunner().invoke(cli, ["import", str(folder / "import.yaml")])
    assert refusal in str(result.exception)
    assert not (folder / "store").exists()


def test_a_unit_that_nobody_tells_is_asked_for_and_then_told_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "store"))
    shutil.unpack_archive(SAMPLES / "cases.zip", tmp_path)
    description = tmp_path / "import-us" / "published.yaml"
    out = plimsoll("import", description)
    assert out.count(": invalid run1.hlog: does not say in which unit its values are") == 2
    assert "(in the description of an import, `unit:`)" in out

    description.write_text("unit: us\n" + description.read_text())
    warning = "values are taken to be in us: as given (`--unit`)"
    assert plimsoll("import", description).count("/2: missed (values in us: as given (`--unit`))") == 2
    campaign = tmp_path / "store" / "us-default"
    attempt = campaign / "cells" / "a-001k-r1" / "2"
    assert warning in json.loads((attempt / "verdict.json").read_text())["warnings"]
    assert json.loads((attempt / "provenance.json").read_text())["unit_taken"] == "us: as given (`--unit`)"
    plimsoll("report", "us-default")
    assert "Values are taken to be in us: as given" in (campaign / "report" / "report.html").read_text()


def test_a_log_of_operations_is_imported_by_its_columns(folder: Path) -> None:
    rows = [f"{1761991200 + at / 500:.3f},{1 + at % 7},{'OK' if at % 5000 else 'KO'}" for at in range(500 * 60)]
    (folder / "runs" / "operations.csv").write_text("\n".join(["ts,elapsed_ms,outcome", *rows]) + "\n")
    text = DESCRIPTION.replace("runs/latte.json.gz", "runs/operations.csv").replace("  - {variant: stress", "#")
    (folder / "import.yaml").write_text("columns: {due: ts, latency: elapsed_ms, ok: outcome}\n" + text)
    answer = json.loads(plimsoll("import", folder / "import.yaml", "--json"))
    assert answer["cells"] == {"latte-00500-r1": "met"}
    provenance = stored(folder, "latte-00500-r1", 1, "provenance.json")
    assert (provenance["format"], provenance["columns"]["due"]) == ("log of operations", "ts")
    assert stored(folder, "latte-00500-r1", 1, "verdict.json")["errors"] == {"failed": 6}
    assert plimsoll("import", folder / "import.yaml").count("there already") == 1


def test_a_load_that_the_files_contradict_is_invalid(folder: Path) -> None:
    text = DESCRIPTION.replace("500/s", "600/s")
    (folder / "import.yaml").write_text(text)
    out = plimsoll("import", folder / "import.yaml")
    assert "latte-00600-r1/1: invalid the files say that 500 ops/s were asked for, not the cell's 600" in out


def test_a_run_that_answered_half_of_its_rate_is_judged_only_at_what_it_achieved(folder: Path) -> None:
    shutil.copy(SAMPLES / "cassandra-stress.hdr", folder / "runs" / "again.hdr")
    same = DESCRIPTION.replace("500/s", "1000/s").replace("runs/latte.json.gz", "runs/again.hdr")
    (folder / "import.yaml").write_text(f"{same}  service_levels: [{{below: 10s}}]\n")
    assert "499.7 ops/s were answered where 1,000 ops/s were due" in plimsoll("import", folder / "import.yaml")
    assert stored(folder, "stress-001k-r1", 1, "verdict.json")["met"] is None
    achieved = same.replace("samples-1", "samples-2")
    (folder / "import.yaml").write_text(f"{achieved}  service_levels: [{{below: 10s}}]\n  rate: achieved\n")
    output = plimsoll("import", folder / "import.yaml")
    half = "only 50% of the cell's 1,000 ops/s were answered: whatever the outcome, it is about 500 ops/s"
    assert f"Warning: {half} (stress-001k-r1, latte-001k-r1)" in output
    path = folder / "store" / "samples-2" / "cells" / "stress-001k-r1" / "1" / "verdict.json"
    verdict = json.loads(path.read_text())
    assert (verdict["met"], half in verdict["warnings"]) == (True, True)
    plimsoll("report", "samples-2")
    page = (folder / "store" / "samples-2" / "report" / "report.html").read_text()
    assert "500 ops/s of 1,000 ops/s (the rate that was achieved)" in page


LOADED_APART = """\
campaign: shop-1
source: two load generators
files: ["{loader}.csv"]
loaders: [east, west]
definition:
  name: shop
  title: Shop
  system: {database: shop, version: "1.8", nodes: 1}
  variants: [{id: now}]
  loads: [50/s]
  workload: {name: checkout}
  load_generator: {name: k6}
  timing: {duration: 40s, warmup: 10s}
  service_levels: [{percentile: 99, interval: 10s, below: 50ms}]
"""


def operations(start_s: float, seconds: int, rate: int, slow_from_s: float) -> str:
    """Return a log of operations. Those due from then on, by the wall clock, take 200 ms; the others 2 ms."""
    due = [start_s + number / rate for number in range(seconds * rate)]
    rows = (f"{at:.6f},{200 if at >= slow_from_s else 2},reads,1" for at in due)
    return "\n".join(["due_s,latency_ms,operation,ok", *rows, ""])


def test_load_generators_that_were_started_apart_are_judged_over_their_common_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "store"))
    began, slow_from = 1_767_000_000.0, 1_767_000_045.0
    (tmp_path / "east.csv").write_text(operations(began, 60, 30, slow_from))
    (tmp_path / "shop.yaml").write_text(LOADED_APART)
    assert "invalid there are no files of west" in plimsoll("import", tmp_path / "shop.yaml")
    (tmp_path / "west.csv").write_text(operations(began + 7, 60, 20, slow_from))
    answer = json.loads(plimsoll("import", tmp_path / "shop.yaml", "--json"))
    assert answer["cells"] == {"now-00050-r1": "missed"}, answer
    verdict = json.loads((tmp_path / "store/shop-1/cells/now-00050-r1/2/verdict.json").read_text())
    # 40 s from when the second began, of which the last 2 s were slow. Of the first alone they would not be judged.
    assert [(one["judged"], one["missed"]) for one in verdict["levels"]] == [(3, 1)]
