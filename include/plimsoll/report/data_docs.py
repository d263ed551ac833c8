"""Links from the report's page to Great Expectations' Data Docs.

The links are relative. Report and Data Docs lie below the campaign in the same way in the store (a folder, or a
download of it) and on Plimsoll's pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from plimsoll.domain.result import Verdict

OF_CAMPAIGN: Final = "../quality/index.html"


def of_attempt(verdict: Verdict) -> str | None:
    """Return the link for an attempt. None where no check was made: the run failed, or its files could not be read."""
    key = verdict.key
    return f"../cells/{key.cell_id}/{key.attempt}/quality/index.html" if verdict.checks else None
