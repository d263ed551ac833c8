"""The result of a check of a machine or of an Airflow."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """The result of one check, with advice where it failed."""

    name: str
    ok: bool
    found: str
    mend: str = ""
    is_note: bool = False
    """Whether it is worth a note only, since campaigns can run all the same."""
