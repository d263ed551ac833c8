"""Where Great Expectations' Data Docs lie, as links of the report's page.

They are relative: in the store (a folder, a download of it) as on Plimsoll's pages, the report and the Data Docs lie
below the campaign in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from plimsoll.domain.result import Verdict

OF_CAMPAIGN: Final = "../quality/index.html"


def of_attempt(verdict: Verdict) -> str | None:
    """None where no check was made: a run that failed, or whose files could not be read, has no Data Docs."""
    key = verdict.key
    return f"../cells/{key.cell_id}/{key.attempt}/quality/index.html" if verdict.checks else None
