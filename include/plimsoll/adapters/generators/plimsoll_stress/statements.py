"""Find the markers of CQL statements without a database. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Strings, quoted names and comments hold no markers; what is none of these is looked at one character at a time.
_TOKEN = re.compile(
    r"""(?P<skip>'(?:[^']|'')*' | "(?:[^"]|"")*" | \$\$.*?\$\$ | --[^\n]* | //[^\n]* | /\*.*?\*/)
    | :(?P<name>[A-Za-z]\w*) | (?P<unnamed>\?) | (?P<open>['"]|/\*)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Marker:
    """A marker `:name` with its line and column, both from 1. `name` is empty for `?`, None for an unclosed quote."""

    name: str | None
    line: int
    column: int

    @property
    def place(self) -> str:
        """Return the position for people: `line 1, column 34`."""
        return f"line {self.line}, column {self.column}"


def markers(statement: str) -> tuple[Marker, ...]:
    """Return all markers of a statement, in order."""
    return tuple(_markers(statement))


def _markers(statement: str) -> Iterator[Marker]:
    for token in _TOKEN.finditer(statement):
        if token["skip"]:
            continue
        before = statement[: token.start()]
        name = None if token["open"] else (token["name"] or "")
        yield Marker(name, before.count("\n") + 1, token.start() - before.rfind("\n"))
