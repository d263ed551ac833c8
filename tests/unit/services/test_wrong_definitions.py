"""Mistakes that people make in definitions, each with the very message that they get."""

from itertools import groupby
from pathlib import Path

import pytest
from tests.support.campaigns.small_definition import SMALL

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.keys.definition_keys import MAX_CELLS
from plimsoll.domain.text.errors import DefinitionError
from plimsoll.services.definitions.reference import dump_definition, parse_definition

DEMO = SMALL.read_text()

Mistake = tuple[str, str, list[str]]
"""What is right, what stands in its place, and the messages."""


def mistakes() -> list[Mistake]:
    lines = Path(__file__).with_name("mistakes.diff").read_text(encoding="utf-8").splitlines()
    blocks = [[line[2:] for line in block] for _, block in groupby(lines, key=lambda line: line[0])]
    each = zip(blocks[::3], blocks[1::3], blocks[2::3], strict=True)
    return [("\n".join(right), "\n".join(wrong), messages) for right, wrong, messages in each]


def refused(text: str) -> list[str]:
    with pytest.raises(DefinitionError) as caught:
        parse_definition(text, "demo.yaml")
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(("right", "wrong", "messages"), mistakes())
def test_a_mistake_is_told_with_its_key_its_line_and_what_to_write(right: str, wrong: str, messages: list[str]) -> None:
    assert right in DEMO
    found = refused(DEMO.replace(right, wrong, 1))
    assert len(found) == len(messages)
    for problem, start in zip(found, messages, strict=True):
        assert problem.startswith(start)
        assert "validat" not in problem
        assert "should" not in problem  # as pydantic says it


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the whole file: is empty (write at least the keys name, title, system, variants, loads, timing)"),
        ("just text", "the whole file: is no mapping of keys to values"),
        ("a: v\n" * (1 << 18), "line 1: is larger than 1 MiB"),
        ("a: " + "[" * 100_000, "line 1: nests deeper than 50 levels"),
        ("a: " + "[" * 60 + "]" * 60, "line 1: nests deeper than 50 levels"),
        ("\n".join(" " * depth + "a:" for depth in range(100)), "line 50: nests deeper than 50 levels"),
        (LAUGHS, "line 7: its aliases stand for more than 1,000,000 values"),
        ("a: &a [*a]", "line 1: an alias stands inside of what it stands for"),
        ("a: 1\n---\nb: 1", "line 2: is not YAML: a second document begins here"),
        ("- a\nb: 1", "line 2: is not YAML: this line does not belong to what stands above it"),
        ("a: \0", "the whole file: is not YAML: a character stands in it that no text has"),
        ('{"a": "\\ud83d"}', "line 1: is not YAML: half of a character stands here, which no file can hold"),
        ("a: *b", "line 1: is not YAML: the alias *b names no anchor (write &b at the value that it stands for)"),
    ],
)
def test_what_is_no_definition_at_all_is_told_in_words(text: str, message: str) -> None:
    (problem,) = refused(text)
    assert problem.startswith(message)


def test_a_character_that_json_writes_in_two_halves_is_one() -> None:
    text = DEMO + 'label: "up \\ud83d\\ude80 and away"\n'
    assert parse_definition(text, "demo.yaml").label == "up \U0001f680 and away"


def test_a_number_larger_than_any_program_keeps_is_refused() -> None:
    (problem,) = refused(DEMO.replace("duration: 45s", f"duration: {'9' * 400}s"))
    assert problem.startswith(f"timing.duration (line 40): '{'9' * 40}…' is too large: the largest is 9223372036854s")


def test_a_misspelt_key_that_another_section_has_may_be_either() -> None:
    found = refused(DEMO.replace("loads: [", "load: ["))
    (advice,) = (one for one in found if one.startswith("load (line"))
    assert advice.endswith("there is no such key here (did you mean 'loads'? or write it inside `canary`)")


def test_the_advice_for_a_heap_shows_how_to_write_one() -> None:
    (problem,) = refused(DEMO.replace("concurrency: 50, heap: 256M", "concurrency: 50, heap: lots"))
    assert "found 'lots' (write a value like 512M or 2G: heap of the generator's own JVM)" in problem


def test_variants_of_one_id_are_named_once_where_the_control_is_none_of_them() -> None:
    found = refused(DEMO.replace("id: shenandoah", "id: g1").replace("control: g1", "control: g3"))
    assert next(one for one in found if one.startswith("control")).endswith("is none of the variants (allowed: g1)")


def test_a_grid_may_be_as_large_as_its_definition_says() -> None:
    big = DEMO.replace("[100/s, 3000/s]", "{from: 1/s, to: 4k/s, step: 1/s}")
    assert refused(big)[0].startswith(
        f"loads (line 28): 2 variants × 4,000 loads × 1 repeat are 8,000 cells; at most {MAX_CELLS:,} are allowed "
        "(write fewer loads, variants or repeats, or `max_cells: 8000` if that is meant)"
    )
    assert resolve(parse_definition(f"{big}max_cells: 8000\n", "demo.yaml")).cells == 8000


def test_a_share_for_a_percentile_is_told_at_the_stage_that_has_it() -> None:
    stages = "stages:\n  - {id: one, service_levels: [{percentile: 0.5}]}\n  - {id: two}\n"
    assert refused(DEMO + stages) == [
        "stages[0].service_levels[0].percentile (line 47): 0.5 is in per cent: nearly all operations take longer; "
        "was 50 meant? (write 50)"
    ]


def test_a_copy_of_a_definition_keeps_its_limit() -> None:
    text = DEMO.replace("repeats: 1", "max_cells: 7")
    assert "max_cells: 7" in dump_definition(parse_definition(text, "demo.yaml"))
