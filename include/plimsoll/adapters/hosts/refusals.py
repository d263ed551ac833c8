"""Advice for errors of a host's operating system, by its error text. Pure."""

from pathlib import PurePath

_FULL = ("No space left", "Disk quota", "File too large")
_FORBIDDEN = ("Permission denied", "Operation not permitted", "Read-only file system")


def mend_of(refusal: str, place: PurePath) -> str:
    """Return the advice for that error at that path on the host."""
    if any(words in refusal for words in _FULL):
        return f"free disk space on the host below {place}, then run the cell again"
    if any(words in refusal for words in _FORBIDDEN):
        return f"give the user who works there the right to write to {place} on the host, or name another folder"
    return "mend the reason given"
