"""The markers of CQL statements, found without a database: the types of their columns, by the `CREATE TABLE`
statements of a definition, and whether the values of a bind fit these. Pure.

The load generator makes the values (`Types.java`), and refuses the same values before it populates.

Only the database knows CQL. What is not recognized here has no type, and is checked when the database prepares it.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from plimsoll.adapters.cql import Table, Tables, inserted, name_of, table_of, words_of
from plimsoll.domain.text.errors import Problem
from plimsoll.domain.text.units import parse_count

LIMIT = "limit"
"""The type of a marker behind LIMIT: an int above 0."""

_RANGES = {
    LIMIT: (1, 2**31 - 1),
    "tinyint": (-(2**7), 2**7 - 1),
    "smallint": (-(2**15), 2**15 - 1),
    "int": (-(2**31), 2**31 - 1),
    "date": (-(2**31), 2**31 - 1),
    "timeuuid": (0, 103_072_857_660_684),
}
"""The numbers that fit a type, where not all of 64 bits do. A time-based UUID has 60 bits for its time."""
_NUMBERS = frozenset({"bigint", "counter", "varint", "decimal", "double", "float", "boolean", "timestamp", "uuid"})
_TEXTS = frozenset({"text", "ascii"})
_MADE = _RANGES.keys() | _NUMBERS | _TEXTS | {"blob"}
_TIMES = _TEXTS | _NUMBERS - {"uuid"} | {"date", "timeuuid"}
"""Types of which the present time is a value."""
_HASH = (0, 2**63 - 1)
LONGEST = 2**20
"""The greatest number of letters or bytes of a value."""
_WIDEST_BELL = 10
"""The greatest deviation of a bell that is drawn again, as a multiple of how many numbers its range has."""
Bind = Mapping[str, JsonValue]

_AFTER_WORD = {"limit": LIMIT, "ttl": "int", "timestamp": "bigint"}
_OPERATORS = ("=", "<", ">", "<=", ">=", "!=")

# Strings, quoted names and comments hold no markers; what is none of these is looked at one character at a time.
_TOKEN = re.compile(
    r"""(?P<skip>'(?:[^']|'')*' | "(?:[^"]|"")*" | \$\$.*?\$\$ | --[^\n]* | //[^\n]* | /\*.*?\*/)
    | :(?P<name>[A-Za-z]\w*) | (?P<unnamed>\?) | (?P<open>['"]|/\*)""",
    re.VERBOSE | re.DOTALL,
)


_KEY_END = re.compile(r"[\w'\"]$")


@dataclass(frozen=True)
class Marker:
    """A marker `:name` with its line and column, both from 1. `name` is empty for `?`, None for an unclosed quote."""

    name: str | None
    line: int
    column: int
    follows_key: bool = False
    """It stands directly behind a word or quote, as the value in `{'a':true}` does, which is no marker."""

    @property
    def place(self) -> str:
        """Return the position for people: `line 1, column 34`."""
        return f"line {self.line}, column {self.column}"


def fit_problems(where: str, bind: Bind, type_: str) -> Iterator[Problem]:
    """Yield at most one fault of a sound bind for a column's type. Distribution and parameters are checked before."""
    if type_ not in _MADE:
        mend = f"write it into the statement; made are {', '.join(sorted(_MADE - {LIMIT}))}"
        yield Problem(where, f"no value of the type {type_} can be made", mend)
        return
    kind, called = _kind(bind), "LIMIT, which takes an int above 0" if type_ == LIMIT else f"the type {type_}"
    if kind == "now":
        if type_ not in _TIMES:
            yield Problem(where, f"the present time does not fit {called}", "choose another distribution, or type")
    elif kind == "bytes":
        if type_ != "blob":
            yield Problem(where, f"bytes do not fit {called}", "write `as: letters` for a text, or a number")
    elif kind == "text":
        if type_ not in (*_TEXTS, "blob"):
            values = "letters" if bind.get("as") == "letters" else "a text with a prefix"
            yield Problem(where, f"{values}, where values of {called} are needed", "leave out `as` and `prefix`")
    elif type_ in _RANGES:
        least, most = _RANGES[type_]
        if outside := [number for number in (_HASH if kind == "hash" else bounds(bind)) if not least <= number <= most]:
            what = f"{outside[0]} does not fit {called}: {least} to {most}"
            yield Problem(where, what, "change `min` or `max`, or the column's type")


def range_problems(where: str, bind: Bind) -> Iterator[Problem]:
    """Yield faults of the bind alone: an empty range, a mean far outside, too long a length, a prefix of bytes."""
    least, most = bounds(bind)
    if least > most:
        yield Problem(f"{where}.min", f"{least} lies above `max`, which is {most}", "exchange them")
    elif bind.get("as") in ("letters", "bytes") and most > LONGEST:
        what = f"values of {most} {bind['as']} are longer than the load generator makes"
        yield Problem(where, what, f"at most {LONGEST}")
    elif bind.get("distribution") == "normal" and bind.get("outside") != "clamp":
        yield from _bell_problems(where, bind, least, most)
    if bind.get("as") == "bytes" and bind.get("prefix"):
        yield Problem(f"{where}.prefix", "bytes have no prefix", "write `as: letters`, or leave it out")


def _bell_problems(where: str, bind: Bind, least: int, most: int) -> Iterator[Problem]:
    """Yield the fault of a bell whose numbers nearly all lie outside: drawing again would not end (`Normal.java`)."""
    mean, deviation = (float(str(bind.get(key, "nan"))) for key in ("mean", "deviation"))
    mean = (least + most) / 2 if math.isnan(mean) else mean
    deviation = max(1e-9, (most - least) / 6) if math.isnan(deviation) else deviation
    widest = _WIDEST_BELL * (most - least + 1)
    if deviation > widest:
        what = f"nearly all numbers of a bell so wide lie outside of {least} to {most}"
        yield Problem(f"{where}.deviation", what, f"at most {widest}, or write `outside: clamp`")
    elif not least - 4 * deviation <= mean <= most + 4 * deviation:
        mend = "move it into the range, or write `outside: clamp`"
        yield Problem(f"{where}.mean", f"the mean {mean:g} lies far outside of {least} to {most}", mend)


def bounds(bind: Bind) -> tuple[int, int]:
    """Return the least and the largest number of a sound bind's distribution."""
    if (value := bind.get("value")) is not None:
        return parse_count(str(value)), parse_count(str(value))
    return parse_count(str(bind.get("min", 0))), parse_count(str(bind.get("max", 0)))


def _kind(bind: Bind) -> str:
    """Return the kind of a bind's values: `now`, `bytes`, `text`, `hash` or `number`."""
    if bind.get("distribution") == "now":
        return "now"
    if bind.get("as") == "bytes":
        return "bytes"
    if bind.get("as") == "letters" or bind.get("prefix"):
        return "text"
    return "hash" if bind.get("as") == "hash" else "number"


def marker_types(statement: str, known: Tables) -> dict[str, str]:
    """Return marker → type, for markers that stand for a column of a known table, or behind LIMIT, TTL or TIMESTAMP.

    None of a batch, whose statements have tables of their own.
    """
    words = words_of(statement)
    if words[:1] == ["begin"]:
        return {}
    columns = known.get(table_of(words), Table()).columns
    types = dict(_inserted(words, columns))
    for position, word in enumerate(words):
        if word.startswith(":") and (type_ := _type_behind(words[:position], columns)):
            types.setdefault(word[1:], type_)
    return types


def _inserted(words: Sequence[str], columns: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the markers in VALUES of an INSERT, each alone at its column's place."""
    names, values = inserted(words) or ((), ())
    for name, value in zip(names, values, strict=False):
        if len(name) == len(value) == 1 and value[0].startswith(":") and name_of(name[0]) in columns:
            yield value[0][1:], columns[name_of(name[0])]


def _type_behind(words: Sequence[str], columns: Mapping[str, str]) -> str | None:
    """Return the type of the marker behind these words, as in `column = :m`, `column IN (…, :m)`, `column IN :m`,
    `column = column + :m` or `LIMIT :m`.
    """
    before, last = list(words), words[-1] if words else ""
    if last in _AFTER_WORD:
        return _AFTER_WORD[last]
    column = columns.get(name_of(before[-2])) if len(before) > 1 else None
    if last in ("+", "-"):
        return column
    if last == "in":
        return column and f"list<{column}>"
    while before and (before[-1] in ("(", ",") or before[-1].startswith(":")):
        before.pop()
    if len(before) > 1 and before[-1] in ("in", *_OPERATORS):
        return columns.get(name_of(before[-2]))
    return None


def markers(statement: str) -> tuple[Marker, ...]:
    """Return all markers of a statement, in order."""
    listed = []
    for token in _TOKEN.finditer(statement):
        if not token["skip"]:
            before = statement[: token.start()]
            name = None if token["open"] else (token["name"] or "")
            place = (before.count("\n") + 1, token.start() - before.rfind("\n"))
            listed.append(Marker(name, *place, follows_key=bool(_KEY_END.search(before))))
    return tuple(listed)
