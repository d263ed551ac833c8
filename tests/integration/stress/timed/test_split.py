"""Two generators that put on one load together, on a real node."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.integration.stress.program import Files, Program
from tests.support.processes import until

RATE, SECONDS, ROWS = 151, 4, 301
AHEAD = timedelta(seconds=3)
"""By how much the second generator is told that its clock is ahead: it then starts so much later."""


class Part:
    """One of two generators, as it runs."""

    def __init__(self, program: Program, node: Any, folder: Path, number: int, log: Any) -> None:
        self.files, self.start_file = Files(folder), folder / "start.json"
        self.process = program.start(
            *("run", "YcsbA", "-o", f"recordcount={ROWS}", "--seed", "7", "-t", "2", "-c", "20", "--rf", "1"),
            *("--rate", str(RATE), "-d", f"{SECONDS}s", "--host", node.address, "--split", f"{number}/2"),
            *("--start-file", str(self.start_file), *self.files.options),
            log=log,
        )

    def is_ready(self) -> bool:
        assert self.process.poll() is None, "it ended before it was told to start"
        return any(line["phase"] == "ready" for line in self.files.progress)

    def tell(self, start: datetime, local: datetime) -> None:
        told = {"start": _utc(start), "local": _utc(local)}
        draft = self.start_file.with_suffix(".part")
        draft.write_text(json.dumps(told))
        draft.rename(self.start_file)


def _utc(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


@pytest.fixture
def start_parts(program: Program, node: Any, tmp_path: Path) -> Iterator[Callable[[], list[Part]]]:
    """Starts both; they end with the test in any case."""
    with ExitStack() as running:

        def start() -> list[Part]:
            parts = []
            for number in (1, 2):
                folder = tmp_path / str(number)
                folder.mkdir()
                log = running.enter_context((folder / "console").open("wb"))
                part = Part(program, node, folder, number, log)
                running.callback(part.process.wait, timeout=30)
                running.callback(part.process.kill)
                parts.append(part)
            return parts

        yield start


def test_two_generators_do_together_what_one_would_from_the_start_that_they_are_told(
    start_parts: Callable[[], list[Part]],
) -> None:
    parts = start_parts()
    until(lambda: all(part.is_ready() for part in parts), "both have populated")
    start = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=5)
    parts[0].tell(start, start)
    parts[1].tell(start, start + AHEAD)
    assert [part.process.wait(timeout=120) for part in parts] == [0, 0]

    summaries = [part.files.summary for part in parts]
    assert [one["split"] for one in summaries] == ["1/2", "2/2"]
    assert [one["populate"]["completed"] for one in summaries] == [151, 150]
    assert [one["populate"]["verified"] for one in summaries] == [151, 150]
    runs = [one["run"] for one in summaries]
    assert [run["scheduled"] for run in runs] == [302, 302]
    assert [run["attempted_ops_s"] for run in runs] == [75.5, 75.5]
    assert {datetime.fromisoformat(run["started"]) for run in runs} == {start}
    for part, run in zip(parts, runs, strict=True):
        logged = [record for name in ("reads", "updates") for record in part.files.log(f"-intended-{name}")]
        assert sum(record.histogram.total_count for record in logged) == run["completed"] == 302
    ended = [datetime.fromisoformat(one["ended"]) for one in summaries]
    assert ended[0] >= start + timedelta(seconds=SECONDS)
    assert ended[1] >= start + AHEAD + timedelta(seconds=SECONDS)


def test_a_generator_that_is_told_too_late_says_so_and_starts_nothing(start_parts: Callable[[], list[Part]]) -> None:
    parts = start_parts()
    until(lambda: all(part.is_ready() for part in parts), "both have populated")
    past = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=5)
    for part in parts:
        part.tell(past, past)
    assert [part.process.wait(timeout=120) for part in parts] == [6, 6]
    for part in parts:
        assert "past when it was told" in part.files.summary["reason"]
        assert part.files.summary["run"] is None
