"""How the check of a host counts; its figures are taken on real hosts."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from plimsoll.adapters.hosts.onhost import canary


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Provide a clock in seconds that is moved by hand."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_a_rate_is_what_was_moved_by_the_time_with_its_end(clock: list[float]) -> None:
    def step() -> int:
        clock[0] += 0.5
        return 100

    def end() -> None:
        clock[0] += 1.0

    assert canary.rate(step, 60.0, end, most=400) == pytest.approx(400 / 3)


def test_it_ends_when_nothing_moves_or_the_time_is_over(clock: list[float]) -> None:
    sizes = iter((100, 100, 0))

    def step() -> Any:
        clock[0] += 1.0
        return next(sizes, 100)

    assert canary.rate(step, 60.0, most=None) == pytest.approx(200 / 3)
    assert canary.rate(step, 2.0, most=None) == pytest.approx(100)


def test_a_folder_that_can_not_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        canary.measure(tmp_path / "file")


def test_it_takes_no_longer_than_it_is_told(tmp_path: Path) -> None:
    effort = json.dumps({"cpu_s": 0.01, "disk_s": 0.2, "file_bytes": 1 << 20})
    began = time.process_time()
    found = canary.main("measure", effort, str(tmp_path))
    assert sorted(found) == ["cpu_bytes_s", "disk_read_bytes_s", "disk_write_bytes_s"]
    assert time.process_time() - began < canary.USUAL.cpu_s


def test_nobody_is_waited_for_longer_than_it_is_told() -> None:
    effort = json.dumps({"patience_s": 0.05})
    with pytest.raises(OSError, match="timed out"):
        canary.main("receive", effort, "127.0.0.1", "0", "word")
