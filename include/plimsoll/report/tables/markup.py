"""What stands in cells of a page's tables beside plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from markupsafe import Markup

if TYPE_CHECKING:
    from plimsoll.domain.result import Verdict

DOCS_OF_CAMPAIGN: Final = "../quality/index.html"
"""The link to Great Expectations' Data Docs of the whole campaign. Like those of attempts it is relative: report and
Data Docs lie below the campaign in the same way in the store (a folder, or a download of it) and on Plimsoll's pages.
"""


def docs_of_attempt(verdict: Verdict) -> str | None:
    """Return the link to an attempt's Data Docs. None where no check was made: the run failed, or its files could not
    be read.
    """
    key = verdict.key
    return f"../cells/{key.cell_id}/{key.attempt}/quality/index.html" if verdict.checks else None


def docs_link(text: object, link: str | None) -> str:
    """Return the text with a link to another page; alone where there is none."""
    return Markup('<a href="{}" target="_blank" rel="noopener">{}</a>').format(link, text) if link else str(text)


def bad(text: object) -> Markup:
    """Return a text that needs attention."""
    return Markup('<strong class="bad">{}</strong>').format(text)


def lines(text: str) -> Markup:
    """Return a text with its line breaks."""
    return Markup("<br>").join(text.splitlines())
