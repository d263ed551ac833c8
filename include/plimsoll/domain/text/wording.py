"""Words for people: output of programs, short and harmless on a terminal, figures, nouns in the singular or plural,
and suggestions for misspelt names.
"""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from math import floor, log10
from unicodedata import category

_LONGEST_LINE = 300
_MOST_LINES = 24
_LISTED = 30
_LEAST_CUT = 3
"""Nothing is cut where less than this part of the bound would go: a little more text tells more than a gap."""
_SENTENCE_END = re.compile(r"(?<=[.;:!?])\s+")
_BLANK = re.compile(r"\s+")
_KEPT = "\n\t\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
_LOGIN = re.compile(r"(?<=://)\S*@")
_QUERY = re.compile(r"(?<=://)([^?\s]*)\?\S+")


def visible(text: str) -> str:
    """Write control characters as escapes, for example `\\x1b`, except for line ends and tabs.

    A terminal obeys control characters: a line in a stranger's log could retitle it, or hide and rewrite what it shows.
    Spaces of other widths and joiners stay, which languages and emoji need.
    """
    return "".join(
        sign if sign.isprintable() or sign in _KEPT or category(sign) == "Zs" else ascii(sign)[1:-1] for sign in text
    )


def masked(text: str) -> str:
    """Return the text without what may be secret in a URL: user and password, and the query, which may be a signature.

    Everything up to the last @ goes, since a password may have any signs.
    """
    return _QUERY.sub(r"\1?…", _LOGIN.sub("…@", text))


def shortened(line: str, longest: int = _LONGEST_LINE) -> str:
    """Return the line without the middle part where it is much too long: of 10,000 characters some 300 stay.

    Whole sentences stay where any are short enough, else whole words.
    """
    if len(line) <= longest + longest // _LEAST_CUT:
        return line
    end = longest // 4
    kept, rest = _begin(line[: longest - end]), _end(line[-end:])
    return f"{kept} … ({len(line) - len(kept) - len(rest):,} characters left out) … {rest}"


def excerpt(text: str) -> str:
    """Return a text of several lines with each line shortened. Of far too many, only the first are kept."""
    lines = text.splitlines()
    if len(lines) <= _MOST_LINES + _MOST_LINES // _LEAST_CUT:
        return "\n".join(map(shortened, lines))
    return "\n".join([*map(shortened, lines[:_MOST_LINES]), f"… ({len(lines) - _MOST_LINES} more lines)"])


def _begin(text: str) -> str:
    """Return the text up to the last end of a sentence in its second half, else of a word; whole where it has none."""
    for border in (_SENTENCE_END, _BLANK):
        ends = [match.start() for match in border.finditer(text) if match.start() > len(text) // 2]
        if ends:
            return text[: ends[-1]]
    return text


def _end(text: str) -> str:
    """Return the text from the first sentence that begins in its first half, else from the first such word."""
    for border in (_SENTENCE_END, _BLANK):
        begins = [match.end() for match in border.finditer(text) if match.end() <= len(text) // 2]
        if begins:
            return text[begins[0] :]
    return text


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun: `1 cell`, `2 cells`, `1,100 cells`. `nouns`: the plural, if not with an s."""
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"


def figure(value: float) -> str:
    """Return a figure to three significant digits without trailing zeros; whole numbers from 100 on."""
    if value == 0:
        return "0"
    decimals = max(0, 2 - floor(log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def some_of(values: Sequence[str]) -> str:
    """Return values as a list; of very many the first, the last, and how many there are."""
    if len(values) <= _LISTED:
        return ", ".join(values)
    return f"any of {len(values):,} from {values[0]} to {values[-1]}"


def nearest(name: object, known: Iterable[str], *, least: float = 0.6) -> str | None:
    """Return the known name that resembles the given one most; None where none does. `least`: 1 is sameness."""
    by_small_letters = {word.lower(): word for word in known}
    close = get_close_matches(str(name).lower(), by_small_letters, n=1, cutoff=least)
    return by_small_letters[close[0]] if close else None


def meant(name: object, known: Iterable[str]) -> str:
    """Return `did you mean 'collector'?` where one of the known names resembles the given one, else the empty text."""
    near = nearest(name, known)
    return f"did you mean {near!r}?" if near else ""


def meant_or_known(name: object, known: Iterable[str], *, lead: str = "allowed") -> str:
    """Return a suggestion, then all allowed names: `did you mean 'G1'? allowed: CMS, G1`."""
    names = list(known)
    listed = f"{lead}: {', '.join(names)}" if names else ""
    return " ".join(part for part in (meant(name, names), listed) if part)
