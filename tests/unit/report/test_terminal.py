from rich.console import Console
from tests.support.campaigns.outcomes import campaign_of

from plimsoll.report.words.capacities import capacity_rows_of
from plimsoll.report.words.terminal import Answer, answer_view, capacity_view, links


def test_the_terminal_table_holds_every_answer_and_takes_markup_literally() -> None:
    outcomes = {"a": {10_000: "m", 20_000: "x"}, "b": {10_000: "m", 20_000: "m"}}
    plain = campaign_of(outcomes).definition.variants
    variants = tuple(one.model_copy(update={"title": f"[bold]{one.id}"}) for one in plain)
    rows = capacity_rows_of(
        campaign_of({"a": {10_000: "m", 20_000: "x"}, "b": {10_000: "m", 20_000: "m"}}, variants=variants)
    )
    console = Console(width=160, record=True, file=None, quiet=False)
    with console.capture() as captured:
        console.print(capacity_view(rows))
    text = captured.get()
    assert "[bold]a" in text
    assert "at least 20,000 ops/s" in text
    assert "(the capacity may be higher)" in text
    assert "20,000 ops/s: 1 of 1 repeat missed" in text
    assert "15,000 ops/s would halve the" in text
    assert "write into the definition: loads: [10000/s," in text


def cause(name: str, missed_with: int, met_with: int, link: str) -> dict[str, object]:
    """Return a cause in a report's document, of 10 missed and 20 met intervals."""
    label = {"cpu": "CPU saturated", "pause": "stop-the-world pause"}.get(name, name)
    counts = {"missed": 10, "missed_with": missed_with, "met": 20, "met_with": met_with}
    return {"cause": name, "label": label, "link": link, **counts}


def document(*causes: dict[str, object]) -> dict[str, object]:
    variants = [{"id": "a", "title": "Serial"}, {"id": "b", "title": ""}]
    found = [{"variant": "a", "causes": causes}, {"variant": "b", "causes": []}]
    return {"definition": {"variants": variants}, "causes": found}


def test_causes_that_are_linked_to_misses_are_named_with_their_base_rate() -> None:
    pause, cpu = cause("pause", 10, 1, "linked"), cause("cpu", 10, 20, "no more than chance")
    assert list(links(document(cpu, pause), "maximum")) == [
        "Serial, maximum: stop-the-world pause in 10 of 10 missed intervals, in 1 of 20 that were met "
        "(linked to the misses)"
    ]


def test_where_no_cause_is_linked_the_one_is_named_that_sets_missed_intervals_apart() -> None:
    pause, cpu = cause("pause", 9, 0, "too few intervals"), cause("cpu", 10, 20, "no more than chance")
    assert list(links(document(cpu, pause, cause("flush", 0, 0, "no more than chance")))) == [
        "Serial: stop-the-world pause in 9 of 10 missed intervals, in 0 of 20 that were met "
        "(too few intervals to tell more)"
    ]
    assert list(links(document(cause("flush", 0, 3, "not collected")))) == []


def test_the_answer_says_what_was_found_by_how_much_why_and_what_to_doubt() -> None:
    rows = capacity_rows_of(campaign_of({"a": {10_000: "m", 20_000: "x"}}))
    warnings = {f"warning {number}": ["c1", "c2", "c3", "c4"] for number in range(10)}
    console = Console(width=200)
    with console.capture() as captured:
        console.print(answer_view(Answer(("A carries 10,000 ops/s.",), rows, ("A: pauses",), warnings)))
    lines = captured.get().splitlines()
    assert lines[0] == "A carries 10,000 ops/s."
    assert "A: its worst interval was 0.5× the bound at 10,000 ops/s, 2.5× the bound at 20,000 ops/s" in lines
    assert "Why it missed: A: pauses" in lines
    assert lines[-10:-8] == ["10 warnings:", "  - warning 0 (c1, c2, c3 and 1 more)"]
    assert lines[-1] == "  … 2 more warnings in the report"
