"""Suggestions for misspelt names."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: object, known: Iterable[str], *, least: float = 0.6) -> str | None:
    """Return the known name that resembles the given one most; None where none does. `least`: 1 is sameness."""
    by_small_letters = {one.lower(): one for one in known}
    found = get_close_matches(str(name).lower(), by_small_letters, n=1, cutoff=least)
    return by_small_letters[found[0]] if found else None


def meant(name: object, known: Iterable[str]) -> str:
    """Return `did you mean 'collector'?` where one of the known names resembles the given one, else the empty text."""
    found = nearest(name, known)
    return f"did you mean {found!r}?" if found else ""


def meant_or_known(name: object, known: Iterable[str], *, lead: str = "allowed") -> str:
    """Return a suggestion, then all allowed names: `did you mean 'G1'? allowed: CMS, G1`."""
    names = list(known)
    listed = f"{lead}: {', '.join(names)}" if names else ""
    return " ".join(part for part in (meant(name, names), listed) if part)
