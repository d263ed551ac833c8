"""Pages of a report, and what is in them."""

from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any

from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.build import figures
from plimsoll.report.charts.theme import Figure
from plimsoll.report.page import page_html
from plimsoll.report.tables import Table


class Elements(HTMLParser):
    """Every element of a page with its attributes, and the text outside of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if not self.tags or self.tags[-1][0] not in ("script", "style"):
            self.text += data

    def count(self, tag: str) -> int:
        return sum(own == tag for own, _ in self.tags)


def rows_of(table: Table[Any]) -> list[dict[str, str]]:
    """Return the texts of each row of a table, by heading."""
    headings = [column.heading for column in table.columns]
    return [dict(zip(headings, texts, strict=True)) for texts in table.texts]


def page_of(findings: Findings, drawn: Sequence[Figure] | None = None) -> str:
    """Return the page with its own charts, or with those of findings that differ in nothing that charts show."""
    return page_html(findings, figures(findings) if drawn is None else drawn)
