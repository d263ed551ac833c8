"""What the generator would send, printed: needs no database."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.integration.stress.program import Program

from plimsoll.adapters.generators.plimsoll_stress.catalogue import FILE, as_text, ask

# Printed by the generator when BasicTimeSeries was its only workload: kind, key, length and beginning of the text.
AS_EVER = {
    "sequence": (
        "w 0 153UZHPQB|w 1 100JUQYWR|w 2 189JTMJAG|w 3 151QYQCBI|r 4|r 5|r 6|r 7|w 8 172QPLQOR|w 9 102FUBMMA|"
        "w 10 153KAJLFE|w 11 123OYGUPM|w 12 104OHMBYL|w 13 144HGGDYN|w 14 111BYLGGQ|r 15",
        "w 0 193MWILOM|w 1 111JOOIAK|w 2 114WCBBZL|w 3 153JMPMSK|w 4 101USURWU|w 5 181GMXMDY|w 6 136IWBRYJ|r 7|"
        "w 8 140LDKDGQ|w 9 158SAKHDM|w 10 165AHNJYL|w 11 120COHKGQ|r 12|w 13 109VBHUNN|w 14 122JYZIWI|w 15 129UJISMO",
    ),
    "random": (
        "w 975 153UZHPQB|w 298 100JUQYWR|w 850 189JTMJAG|w 729 151QYQCBI|r 453|r 891|r 242|r 501|w 378 172QPLQOR|"
        "w 749 102FUBMMA|w 756 153KAJLFE|w 849 123OYGUPM|w 561 104OHMBYL|w 377 144HGGDYN|w 654 111BYLGGQ|r 164",
        "w 198 193MWILOM|w 309 111JOOIAK|w 352 114WCBBZL|w 171 153JMPMSK|w 433 101USURWU|w 563 181GMXMDY|"
        "w 804 136IWBRYJ|r 894|w 520 140LDKDGQ|w 809 158SAKHDM|w 952 165AHNJYL|w 89 120COHKGQ|r 503|w 159 109VBHUNN|"
        "w 685 122JYZIWI|w 577 129UJISMO",
    ),
    "normal": (
        "w 587 153UZHPQB|w 557 100JUQYWR|w 485 189JTMJAG|w 621 151QYQCBI|r 296|r 501|r 415|r 672|w 555 172QPLQOR|"
        "w 575 102FUBMMA|w 628 153KAJLFE|w 246 123OYGUPM|w 557 104OHMBYL|w 375 144HGGDYN|w 536 111BYLGGQ|r 655",
        "w 377 193MWILOM|w 422 111JOOIAK|w 441 114WCBBZL|w 369 153JMPMSK|w 264 101USURWU|w 724 181GMXMDY|"
        "w 508 136IWBRYJ|r 510|w 511 140LDKDGQ|w 672 158SAKHDM|w 501 165AHNJYL|w 345 120COHKGQ|r 720|w 592 109VBHUNN|"
        "w 455 122JYZIWI|w 222 129UJISMO",
    ),
}


@pytest.fixture
def printed(program: Program) -> Any:
    """Provide the lines of `keys`."""

    def run(*options: Any) -> Any:
        ended = program.run("keys", *options)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.splitlines()

    return run


def in_short(line: Any, thread: Any) -> Any:
    kind, *fields = line.split("\t")
    values = dict(field.split("=", 1) for field in fields)
    number = values["key"].removeprefix(f"001.{thread}.")
    return f"r {number}" if kind == "reads" else f"w {number} {len(values['text'])}{values['text'][:6]}"


@pytest.mark.parametrize("choice", AS_EVER)
def test_basic_time_series_makes_the_keys_and_operations_that_it_always_made(printed: Any, choice: Any) -> None:
    options = ("-t", "2", "-p", "1000", "--pg", choice, "-r", "0.2", "--populate", "4", "--seed", "7")
    lines = printed("--workload", "BasicTimeSeries", *options, "--count", "12")
    for thread, expected in enumerate(AS_EVER[choice]):
        assert "|".join(in_short(line, thread) for line in lines[16 * thread :][:16]) == expected


def test_the_checked_in_catalogue_is_what_the_generator_says(program: Program) -> None:
    said = ask(program.java, program.class_path)
    mend = "make it again: python -m plimsoll.adapters.generators.plimsoll_stress.catalogue"
    assert FILE.read_text(encoding="utf-8") == as_text(said), mend


@pytest.mark.parametrize(
    ("workload", "options"),
    [
        ("BasicTimeSeries", ("-r", "0.3", "--populate", "3")),
        ("YcsbD", ("-o", "recordcount=1000")),
        ("TimeSeries", ("-o", "rows=100")),
        ("BatchedRows", ("-o", "reads=1", "-o", "batch_rows=2")),
    ],
)
def test_generators_that_share_a_load_send_together_what_one_with_all_threads_would(
    printed: Any, workload: Any, options: Any
) -> None:
    def lines_of(threads: Any, *split: Any) -> Any:
        return printed("--workload", workload, "-t", threads, "--count", "20", "--seed", "7", *options, *split)

    parts = [line for number in (1, 2, 3) for line in lines_of("2", "--split", f"{number}/3")]
    assert sorted(parts) == sorted(lines_of("6"))


@pytest.mark.parametrize(
    ("workload", "options"),
    [
        ("BasicTimeSeries", {"read_share": 0.3, "seed": 7}),
        ("YcsbA", {"fieldlength": 5}),
        ("YcsbB", {"fieldlength": 5, "readallfields": False}),
        ("YcsbF", {"fieldlength": 5}),
        ("Tabular", {}),
        ("BatchedRows", {"batch_rows": 2, "reads": 1, "at_a_time": 3}),
    ],
)
def test_keys_prints_what_the_run_sends(
    printed: Any, ask: Callable[..., Any], tmp_path: Path, workload: str, options: Any
) -> None:
    path = tmp_path / "options.json"
    path.write_text(json.dumps(options))
    lines = printed("--workload", workload, "--options", path, "--seed", "7", "--count", "40")
    (answer,) = ask(f"sent {workload} {json.dumps(options, separators=(',', ':'))} 40")
    assert lines == answer.split("|")
    assert len(lines) >= 40


@pytest.mark.parametrize("first", [0, 7])
def test_the_cycles_of_a_time_series_begin_again_with_the_populated_rows(
    printed: Any, ask: Callable[..., Any], first: int
) -> None:
    """As NoSQLBench's main phase: operation n reads or writes row n, with the keys and times of populating."""
    options = {"rows": 12, "sources": 3, "reads": 5}
    words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    lines = printed("--workload", "TimeSeries", *words, "-o", f"first_cycle={first}", "--count", "30")
    more = json.dumps({**options, "rows": 100}, separators=(",", ":"))
    questions = (f"row TimeSeries {more} {first + n}" for n in range(30))
    drawn = {"reading", "text"}
    for line, row in zip(lines, ask(*questions), strict=True):
        values = {word for word in row.split("\t")[1:] if word.split("=")[0] not in drawn}
        sent = {word for word in line.split("\t")[1:] if word.split("=")[0] not in drawn}
        assert sent == (values if line.startswith("writes") else {word for word in values if word[:2] in ("ma", "se")})
    assert {line.split("\t")[0] for line in lines} == {"reads", "writes"}
