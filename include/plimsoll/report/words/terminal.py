"""The answer of a campaign for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from plimsoll.analysis.campaign.causes import Link
from plimsoll.domain.text.wording import plural
from plimsoll.report.formatting import listing
from plimsoll.report.tables import Column, Table, for_terminal, terminal_text
from plimsoll.report.words.capacities import CapacityRow, loads_line

_LINKS: Mapping[Link, str] = {
    "linked": "linked to the misses",
    "no more than chance": "which chance alone may do",
    "too few intervals": "too few intervals to tell more",
}
_WARNINGS_SHOWN = 8
_CELLS_NAMED = 3


@dataclass(frozen=True)
class Answer:
    """The answer of a campaign: conclusions, capacities, causes of misses, and warnings with their cells."""

    conclusions: tuple[str, ...]
    rows: tuple[CapacityRow, ...]
    links: tuple[str, ...]
    warnings: Mapping[str, Sequence[str]]


def answer_view(answer: Answer) -> RenderableType:
    lines: list[RenderableType] = [terminal_text(line, "bold") for line in answer.conclusions]
    if answer.rows:
        lines += [
            capacity_view(answer.rows),
            *(terminal_text(f"{row.variant}: {row.by_how_much}") for row in answer.rows if not row.asks_threshold),
        ]
    lines += [terminal_text(f"Why it missed: {line}") for line in answer.links]
    return Group(*lines, *_warning_lines(answer.warnings))


def links(document: Mapping[str, Any], part: str = "") -> Iterator[str]:
    """Yield the causes in a report's document that are linked to each variant's misses, with share and base rate.

    Where none is linked: the one that most sets missed intervals apart.
    """
    labels = {variant["id"]: variant["title"] or variant["id"] for variant in document["definition"]["variants"]}
    for of_variant in document["causes"]:
        touching = [cause for cause in of_variant["causes"] if cause["missed_with"]]
        touching.sort(key=_contrast, reverse=True)
        linked = [cause for cause in touching if cause["link"] == "linked"]
        for cause in linked or touching[:1]:
            missed = f"{cause['missed_with']} of {plural(cause['missed'], 'missed interval')}"
            met = f"in {cause['met_with']} of {cause['met']} that were met"
            name = ", ".join(filter(None, (labels[of_variant["variant"]], part)))
            yield f"{name}: {cause['label']} in {missed}, {met} ({_LINKS[cause['link']]})"


def _contrast(cause: Mapping[str, Any]) -> float:
    """Return the share of missed intervals with the cause, less the share of met ones."""
    return float(cause["missed_with"] / cause["missed"] - cause["met_with"] / max(1, cause["met"]))


def capacity_view(rows: Sequence[CapacityRow]) -> RenderableType:
    """Return the rows as a table, with notes below each capacity and loads to run next at the end."""
    line = loads_line(rows)
    caption = Text(f"To narrow where the boundaries lie, write into the definition: {line}") if line else None
    # A threshold's load need not be one that was run.
    is_run = not all(row.asks_threshold for row in rows)
    columns: list[Column[CapacityRow]] = [
        Column("Variant", lambda row: row.variant),
        Column("Capacity", _with_notes),
        Column("Rests on", lambda row: row.rests_on, shown=is_run),
        Column("Next load", lambda row: row.next_load, shown=is_run),
        Column("Pass probability", lambda row: row.pass_probability, shown=is_run),
        Column("To control", lambda row: row.to_control),
    ]
    looks = {"show_lines": True, "caption": caption, "caption_justify": "left"}
    return for_terminal(Table("Capacity", rows, *columns), style="", **looks)


def _with_notes(row: CapacityRow) -> str:
    return "\n".join([row.capacity, *(f"({note})" for note in (*row.notes, row.narrowing) if note)])


def _warning_lines(warnings: Mapping[str, Sequence[str]]) -> Iterator[Text]:
    if not warnings:
        return
    yield Text(f"{plural(len(warnings), 'warning')}:", style="yellow")
    for text, cells in list(warnings.items())[:_WARNINGS_SHOWN]:
        yield terminal_text(f"  - {text} ({listing(cells, _CELLS_NAMED)})")
    if (more := len(warnings) - _WARNINGS_SHOWN) > 0:
        yield Text(f"  … {plural(more, 'more warning')} in the report")
