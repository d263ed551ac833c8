"""`plimsoll run` of a campaign in stages, killed where the second begins: it goes on, and ends with its report."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.undrawn import undrawn
from tests.support.suite.requirements import long

from plimsoll import cli
from plimsoll.domain.keys.loads import TakenLoad
from plimsoll.domain.keys.strategy import FullGrid, Ramp, Stage

CHECKOUT = Path(__file__).resolve().parents[3]
RUN = ("run", "staged", "--campaign", "mine")
STAGES = (
    Stage(id="maximum", strategy=Ramp()),
    Stage(id="share", title="70 % of the maximum", strategy=FullGrid(), repeats=2,
          loads=TakenLoad.model_validate({"share": "70%", "of": "maximum"})),
    Stage(id="common", strategy=FullGrid(), loads=TakenLoad.model_validate({"slowest_of": "maximum"})),
)  # fmt: skip

pytestmark = pytest.mark.timeout(1200)


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    made = Installation(tmp_path)
    plain = instant_definition("staged", variants=2, loads=1)
    definition = plain.model_copy(update={"stages": STAGES, "control": "v1"})
    made.define(definition)
    made.open_campaign(definition, "mine")
    return made


def kill_where_the_second_stage_begins(environment: dict[str, str]) -> None:
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    command = [sys.executable, "-c", "from plimsoll.cli import app; app()", *RUN]
    with subprocess.Popen(command, cwd=CHECKOUT, env={**environment, "PYTHONUNBUFFERED": "1"}, **pipes) as process:
        lines = []
        for line in process.stdout or ():
            lines.append(line)
            if line.startswith("mine/share-"):
                process.kill()
                return
        pytest.fail(f"the second stage did not begin: {lines}")


@pytest.fixture
def ended(
    installation: Installation, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[object, str]]:
    """Exit code and output of `plimsoll` with these arguments, in this process, which has made the imports."""
    for name, value in installation.environment.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str) -> tuple[object, str]:
        monkeypatch.setattr("sys.argv", ["plimsoll", *arguments])
        with undrawn(), pytest.raises(SystemExit) as exited:
            cli.app()
        out, err = capsys.readouterr()
        return exited.value.code, out + err

    return run


@long("stages go on among the unit tests; commands are killed in test_interrupted_runs.py")
def test_it_goes_on_with_the_loads_that_are_on_record(
    installation: Installation, ended: Callable[..., tuple[object, str]]
) -> None:
    kill_where_the_second_stage_begins({**os.environ, **installation.environment})
    record = installation.folder / "store" / "mine" / "stages" / "share.json"
    found = record.read_bytes()

    code, sentence = ended(*RUN)

    assert code == 0, sentence
    assert "\nshare: " in sentence, "the answer of each stage stands at the end"
    assert record.read_bytes() == found
    attempts = installation.attempts("mine")
    assert {cell: numbers for cell, numbers in attempts.items() if cell.startswith("maximum")} == {
        "maximum-v1-001k-r1": [1], "maximum-v2-001k-r1": [1],
    }  # fmt: skip
    assert {len(numbers) for cell, numbers in attempts.items() if cell.startswith("share")} <= {1, 2}
    report = installation.folder / "store" / "mine" / "report"
    document = json.loads((report / "report.json").read_bytes())
    assert [part["name"] for part in document["parts"]] == ["maximum", "share", "common"]
    loads = {one["variant"]: one["load_ops_s"] for one in document["stages"][1]["opening"]["loads"]}
    assert loads == {"v1": 700, "v2": 700}
    v1, v2 = document["parts"][1]["at_loads"]
    assert (v1["repeats"], v1["to_control"]) == (2, None)
    assert v2["to_control"]["low"] <= v2["to_control"]["value"] <= v2["to_control"]["high"]
    assert document["parts"][2]["at_loads"][0]["p99_9_ms"]["value"] > 0
    page = (report / "report.html").read_text()
    sentence = "maximum at least 1,000 ops/s in stage maximum, as maximum-v1-001k-r1/1 decided; it runs at 700 ops/s"
    assert sentence in page
    assert (report / "share-report.html").exists()

    code, sentence = ended("report", str(report / "bundle.zip"), "--into", str(installation.folder / "again"))
    assert code == 0, sentence
