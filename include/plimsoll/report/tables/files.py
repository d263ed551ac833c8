"""Tables as numbers, in files, and how the files of a part are named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Sheet:
    """A table as numbers: each row by the names of its columns, or as values in the order of `columns`.

    A sheet without rows has the columns that are named here. `types`: those that no value may tell, by column.
    """

    rows: Iterable[Mapping[str, object] | Sequence[object]]
    columns: Sequence[str] | None = None
    types: Mapping[str, str] = field(default_factory=dict)

    def frame(self) -> pd.DataFrame:
        """Return the sheet as a data frame."""
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
    """Return the frame as Parquet."""
    buffer = BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def file_of_part(part: str, path: str) -> str:
    """Return the name of a part's file in the report's folder: `kv-report.html`."""
    return f"{part}-{path}"


def _no_formula(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_BEGINS_FORMULA) else cell
