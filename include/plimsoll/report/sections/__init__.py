"""The sections of a campaign's page, listed in `registry`: each has a template, and most have a module of that name."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from plimsoll.analysis.campaign.findings import Findings
from plimsoll.report.charts.theme import Figure
from plimsoll.report.tables import Sheet, Table


@dataclass(frozen=True)
class Section:
    """A section of a campaign's page, with the charts and tables that belong to it."""

    name: str
    """The section's anchor in the page, and the name of its template in this folder: `noise` has `noise.html.j2`."""
    link: str
    """The section's name in the page's navigation."""
    tables: Mapping[str, Callable[[Findings], Table[Any] | None]] = field(default_factory=dict)
    """The tables that the template shows, by name."""
    context: Callable[[Findings], Mapping[str, Any]] = lambda _findings: {}
    """What else it shows, by name. Every template also has `findings`, `definition`, `data`, `figures` (all charts)."""
    charts: Callable[[Findings], tuple[Figure, ...]] = lambda _findings: ()
    """The section's charts of a campaign; the report has each as PNG and SVG too."""
    sheets: Mapping[str, Callable[[Findings], Sheet]] = field(default_factory=dict)
    """The section's tables as numbers, by CSV file. The report has them even where the section is left out."""
    needs: frozenset[Literal["load"]] = frozenset({"load"})
    """What must be known of the cells for it to have something to show. What else is not known, it says itself."""
    is_shown: Callable[[Findings, Collection[str]], bool] = lambda _findings, _charts: True
    """Whether a campaign's page has the section, by the findings and the names of all charts that there are."""

    @property
    def template(self) -> str:
        return f"{self.name}.html.j2"
