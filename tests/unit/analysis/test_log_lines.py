from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pandas as pd

from plimsoll.analysis.attempt.missed_intervals import log_lines_frame
from plimsoll.domain.keys.process import LogLine, ProcessOnHost

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def intervals(*met: bool | None) -> pd.DataFrame:
    """Return ten seconds each; the later, the slower."""
    return pd.DataFrame(
        {
            "start_s": [10.0 * place for place in range(len(met))],
            "duration_s": 10.0,
            "judged_ms": [100.0 + place for place in range(len(met))],
            "met": pd.array(list(met), dtype="boolean"),
        }
    )


def logged(*lines: tuple[float, str]) -> Sequence[LogLine]:
    return [LogLine(START + timedelta(seconds=at), text) for at, text in lines]


def kept_lines(
    table: pd.DataFrame, lines: dict[str, Sequence[LogLine]], **ahead_ms: float
) -> list[tuple[float, str, str]]:
    by_process = {ProcessOnHost(host, "cassandra"): own for host, own in lines.items()}
    found = log_lines_frame(table, by_process, START, ahead_ms, 100.0)
    assert set(found["process"]) <= {"cassandra"}
    return list(zip(found["start_s"], found["host"], found["text"], strict=True))


def test_lines_of_missed_intervals_are_kept_and_no_others() -> None:
    lines = {"node1": logged((5, "INFO a"), (9.95, "INFO b"), (12, "INFO c"), (21, "INFO d"), (35, "INFO e"))}
    assert kept_lines(intervals(None, False, True, None), lines) == [
        (10.0, "node1", "INFO b"),
        (10.0, "node1", "INFO c"),
    ]


def test_lines_stand_in_order_of_time_on_the_load_generator_s_clock() -> None:
    lines = {"node1": logged((14, "INFO late")), "node2": logged((15, "INFO early"), (18, "INFO last"))}
    found = [text for _, _, text in kept_lines(intervals(None, False), lines, node2=2_000.0)]
    assert found == ["INFO early", "INFO late", "INFO last"]


def test_of_many_lines_the_grave_ones_are_kept_and_long_ones_are_cut() -> None:
    many = [(10 + place / 100, f"INFO {place}") for place in range(100)]
    found = kept_lines(intervals(None, False), {"node1": logged(*many, (19, "WARN " + "x" * 9_000))})
    assert len(found) == 8
    assert found[-1][2].startswith("WARN xxx")
    assert len(found[-1][2]) == 300


def test_only_the_worst_intervals_have_lines_those_without_an_answer_before_all() -> None:
    table = intervals(*[False] * 30)
    table.loc[0, "judged_ms"] = None
    lines = {"node1": logged(*((10 * place + 1.0, f"INFO {place}") for place in range(30)))}
    assert [start for start, _, _ in kept_lines(table, lines)] == [0.0, *(10.0 * place for place in range(21, 30))]


def test_nothing_logged_and_nothing_missed_has_no_lines() -> None:
    assert kept_lines(intervals(True, True), {"node1": logged((1, "INFO a"))}) == []
    assert kept_lines(intervals(False), {}) == []
