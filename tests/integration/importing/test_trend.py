"""Imported campaigns of which one variant becomes slower, from files to the trend, by commands that a person gives."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.suite.requirements import IS_LONG
from typer.testing import CliRunner

from plimsoll.cli import cli

CAMPAIGNS, STEP = (30, 20) if IS_LONG else (12, 7)
DESCRIPTION = """\
campaign: nightly-{number}
source: made for a test
environment: {{kernel: "{kernel}"}}
files: ["{number}/{{variant}}.csv"]
columns: {{due: due_us, latency: took_us}}
definition:
  name: nightly
  title: Nightly
  system: {{database: shop, version: "1.{number}", nodes: 1}}
  variants: [{{id: old}}, {{id: new}}]
  loads: [50/s]
  workload: {{name: checkout}}
  load_generator: {{name: k6}}
  timing: {{duration: 20s, warmup: 10s}}
  service_levels: [{{percentile: 99, interval: 5s, below: 50ms}}]
"""


def operations(level_ms: float, chance: random.Random) -> Iterator[str]:
    yield "due_us,took_us"
    for number in range(1_000):
        yield f"{1_795_201_196_000_000 + number * 20_000},{level_ms * 1000 * chance.uniform(0.98, 1.02):.0f}"


def plimsoll(*arguments: object) -> str:
    result = CliRunner().invoke(cli, [str(one) for one in arguments])
    if result.exception is not None:
        raise result.exception
    return result.stdout


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide imported campaigns; all files claim the same start."""
    monkeypatch.setenv("PLIMSOLL_STORE", str(tmp_path / "store"))
    chance = random.Random(3)
    for number in range(1, CAMPAIGNS + 1):
        (tmp_path / str(number)).mkdir()
        for variant in ("old", "new"):
            level_ms = 20 * chance.gauss(1, 0.02) * (1.15 if variant == "new" and number > STEP else 1)
            text = "\n".join(operations(level_ms, chance))
            (tmp_path / str(number) / f"{variant}.csv").write_text(text + "\n")
        description = DESCRIPTION.format(number=number, kernel="6.1" if number <= STEP else "6.8")
        (tmp_path / f"{number}.yaml").write_text(description)
        plimsoll("import", tmp_path / f"{number}.yaml")
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("order", ["date", "version"])
def test_exactly_the_planted_change_is_found_and_what_else_changed(order: str) -> None:
    found = json.loads(plimsoll("trend", "nightly", "--json", "--by", order))
    assert len(found["campaigns"]) == CAMPAIGNS
    assert [(one["variant"], one["previous_campaign_id"], one["campaign_id"]) for one in found["changes"]] == [
        ("new", f"nightly-{STEP}", f"nightly-{STEP + 1}")
    ]
    (change,) = (at for one in found["series"] for at in one["change_points"])
    assert {one["fact"]: (one["before"], one["after"]) for one in change["also_changed"]} == {
        "kernel": ("6.1", "6.8"),
        "definition: version": (f"1.{STEP}", f"1.{STEP + 1}"),
    }
