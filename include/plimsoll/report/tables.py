"""Tables for people, declared once by their columns for page, summary and terminal; and tables as numbers, in files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from markupsafe import Markup

from plimsoll.domain.text.wording import visible

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table as TerminalTable
    from rich.text import Text

    from plimsoll.domain.attempt.result import Verdict

Row = TypeVar("Row")

DOCS_OF_CAMPAIGN: Final = "../quality/index.html"
"""The link to Great Expectations' Data Docs of the whole campaign. Like those of attempts it is relative: report and
Data Docs lie below the campaign in the same way in the store (a folder, or a download of it) and on Plimsoll's pages.
"""


@dataclass(frozen=True)
class Column(Generic[Row]):
    """The heading, and what stands below it in each row: a text, or `Markup` of the page.

    `style`: the style's names for its cells, such as `number`, which aligns the heading too, and `strong`. `shown`:
    False leaves the column out, where nothing is known that it could show.
    """

    heading: str
    of: Callable[[Row], object]
    style: str | Callable[[Row], str] = ""
    shown: bool = True

    @property
    def is_number(self) -> bool:
        return isinstance(self.style, str) and self.style.startswith("number")


class Cell(NamedTuple):
    """One cell. `names_row` says that it is the heading of its row."""

    content: object
    style: str
    names_row: bool


class Table(Generic[Row]):
    """A table with a label for those who do not see it. It is false without rows.

    `naming`: the column whose cells name their rows; None for none. `anchor` gives the target of links to a row.
    """

    def __init__(
        self,
        label: str,
        rows: Sequence[Row],
        *columns: Column[Row],
        naming: int | None = 0,
        anchor: Callable[[Row], str] | None = None,
    ) -> None:
        self.label, self.rows, self.naming, self.anchor = label, rows, naming, anchor
        self.columns = [column for column in columns if column.shown]

    def __bool__(self) -> bool:
        return bool(self.rows)

    def cells(self, row: Row) -> Iterator[Cell]:
        for index, column in enumerate(self.columns):
            style = column.style if isinstance(column.style, str) else column.style(row)
            yield Cell(column.of(row), style, index == self.naming)

    @property
    def texts(self) -> list[list[str]]:
        return [[str(cell.content) for cell in self.cells(row)] for row in self.rows]


PlainTable = Table[Sequence[object]]
"""A table whose rows are their cells."""


def number(heading: str, of: Callable[[Row], object], style: str = "", *, shown: bool = True) -> Column[Row]:
    return Column(heading, of, f"number {style}".strip(), shown)


def plain(
    label: str, headings: Mapping[str, str], rows: Iterable[Sequence[object]], naming: int | None = 0
) -> Table[Sequence[object]]:
    """Return a table of finished cells below these headings, each with the style of its column."""
    columns: Iterator[Column[Sequence[object]]] = (
        Column(heading, itemgetter(index), style) for index, (heading, style) in enumerate(headings.items())
    )
    return Table(label, list(rows), *columns, naming=naming)


def escaped(text: str) -> str:
    """Return text on one line, escaped where Markdown reads more than text: not `<` before a space, as in `p < 0.1`."""
    return re.sub(r"([\\`*_{}\[\]>#|~]|<(?! ))", r"\\\1", " ".join(text.split()))


def markdown(table: Table[Row]) -> str:
    """Return the table in Markdown, strong cells in bold."""
    lines = [[column.heading for column in table.columns], *(map(_bold, table.cells(row)) for row in table.rows)]
    heading, *rows = (f"| {' | '.join(line)} |\n" for line in lines)
    return f"{heading}|{'---|' * len(table.columns)}\n{''.join(rows)}"


def _bold(cell: Cell) -> str:
    text = escaped(str(cell.content))
    return f"**{text}**" if "strong" in cell.style else text


def for_terminal(table: Table[Row], style: str = "bold", **looks: Any) -> TerminalTable:
    """Return the table for a terminal, its label as title. No text is markup. `looks` are rich's own arguments."""
    from rich.table import Table as TerminalTable

    shown = TerminalTable(title=terminal_text(table.label, style), title_justify="left", **looks)
    for column in table.columns:
        shown.add_column(terminal_text(column.heading))
    for line in table.texts:
        shown.add_row(*map(terminal_text, line))
    return shown


def terminal_text(text: str, style: str = "") -> Text:
    """Return a text for a terminal. It may quote other people's words: none is markup, no control character obeyed."""
    from rich.text import Text

    return Text(visible(text), style=style)


def docs_of_attempt(verdict: Verdict) -> str | None:
    """Return the link to an attempt's Data Docs. None where no check was made: the run failed, or files are unread."""
    key = verdict.key
    return f"../cells/{key.cell_id}/{key.attempt}/quality/index.html" if verdict.checks else None


def docs_link(text: object, link: str | None) -> str:
    """Return the text with a link to another page; alone where there is none."""
    return Markup('<a href="{}" target="_blank" rel="noopener">{}</a>').format(link, text) if link else str(text)


def bad(text: object) -> Markup:
    return Markup('<strong class="bad">{}</strong>').format(text)


def lines(text: str) -> Markup:
    return Markup("<br>").join(text.splitlines())


_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r")

PERCENTILE_NAMES: Mapping[str, str] = {
    "p50_ms": "p50",
    "p90_ms": "p90",
    "p99_ms": "p99",
    "p99_9_ms": "p99.9",
    "max_ms": "maximum",
}


@dataclass(frozen=True)
class Sheet:
    """A table as numbers: each row by the names of its columns, or as values in the order of `columns`.

    A sheet without rows has the columns that are named here. `types`: those that no value may tell, by column.
    """

    rows: Iterable[Mapping[str, object] | Sequence[object]]
    columns: Sequence[str] | None = None
    types: Mapping[str, str] = field(default_factory=dict)

    def frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=list(self.columns) if self.columns else None).astype(self.types)


def as_csv(frame: pd.DataFrame) -> bytes:
    """Write the frame as CSV with a header line, LF line ends, UTF-8.

    A text that a spreadsheet would take for a formula gets an apostrophe before it, as OWASP's page on CSV injection
    says: titles and facts of hosts are other people's words.
    """
    texts = frame.select_dtypes(exclude=["number", "bool", "datetime", "datetimetz"])
    text: str = frame.assign(**texts.map(_no_formula)).to_csv(index=False, lineterminator="\n")
    return text.encode()


def as_parquet(frame: pd.DataFrame) -> bytes:
    return frame.to_parquet(index=False)


def file_of_part(part: str, path: str) -> str:
    """Return the name of a part's file in the report's folder: `kv-report.html`."""
    return f"{part}-{path}"


def _no_formula(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_BEGINS_FORMULA) else cell
