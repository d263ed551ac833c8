"""Words of load generators' logs: what the columns of a log of operations hold, as a user says it (`time=ts:ms,
latency=elapsed_ms`), the names of operations, each a read or a write, and remarks that other modules recognise.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import AfterValidator

from plimsoll.domain.text.wording import meant_or_known

Moment = Literal["time", "due", "end"]
MOMENTS: tuple[Moment, ...] = get_args(Moment)
LATENCIES = ("latency", "response")
ROLES = (*MOMENTS, *LATENCIES, "operation", "ok", "error", "only", "delimiter")
_OTHER_NAMES = {"outcome": "ok"}
SECONDS_OF: Mapping[str, float] = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""Units of times and latencies, in s."""
_DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "space": " "}
_WORDS_OF_UNITS = {
    "ns": "ns|nanos|nanosec|nanoseconds?",
    "us": "us|µs|micros|microsec|microseconds?",
    "ms": "ms|msec|millis|milliseconds?",
    "s": "s|secs?|seconds?",
}
_NAMED_UNIT = re.compile(
    r"(?:[_\-.( \[/]|(?<=[a-z])(?=[A-Z]))(?:"
    + "|".join(f"(?P<{unit}>(?i:{words}))" for unit, words in _WORDS_OF_UNITS.items())
    + r")[)\]]?$"
)
EXAMPLE = "`--columns time=ts,latency=elapsed_ms,ok=success` (of an import or a command, `columns: {time: ts, …}`)"
WRITES, READS = "writes", "reads"
KINDS: Mapping[str, str] = {
    **dict.fromkeys(("mutations", "mutation", "writes", "write", "inserts", "insert", "updates", "update"), WRITES),
    **dict.fromkeys(("deletions", "deletes", "delete", "batches", "batch", "counter_write"), WRITES),
    **dict.fromkeys(("selects", "select", "reads", "read", "scans", "scan", "counter_read"), READS),
}
"""Operation names of load generators, in small letters → the kind of query."""

COORDINATED_OMISSION = "(coordinated omission)"
"""The end of remarks on logs whose times do not count from the intended start of operations, or may not."""


class Column(NamedTuple):
    """A column by its name in the header, by its key in a JSON line (`data.time`), or by its number from 1.

    `unit`: as the user gave it, else as the name ends (`elapsed_ms`, `latency(us)`), else empty.
    """

    name: str
    unit: str = ""


class Columns(NamedTuple):
    """The columns of a log of operations.

    `moments`: when an operation was sent (`time`), was due (`due`) or ended (`end`). `latency` counts from the intended
    start where `is_response`, else from the send; None where it is the time from one moment to the other. `ok`: the
    first of these columns that is not empty tells whether an operation was answered, by `ok_values` where these are
    given. `only`: rows that count, by the values of a column.
    """

    moments: Mapping[Moment, Column]
    latency: Column | None = None
    is_response: bool = False
    operation: Column | None = None
    ok: tuple[Column, ...] = ()
    ok_values: frozenset[str] = frozenset()
    error: Column | None = None
    only: Column | None = None
    only_values: frozenset[str] = frozenset()
    delimiter: str = ""

    @property
    def needed(self) -> tuple[Column, ...]:
        """Return the columns without which no operation can be read."""
        return (*self.moments.values(), *([self.latency] if self.latency else []))


def pairs(texts: Iterable[str]) -> dict[str, str]:
    """Return `NAME=COLUMN` pairs, of which a text may have several, with commas. Raises ValueError."""
    by_role: dict[str, str] = {}
    for pair in (part.strip() for text in texts for part in text.split(",") if part.strip()):
        role, equals, column = pair.partition("=")
        if not equals or not role.strip() or not column.strip():
            raise ValueError(f"{pair!r} is not NAME=COLUMN, as in {EXAMPLE}")
        if role.strip() in by_role:
            raise ValueError(f"{role.strip()!r} is given twice")
        by_role[role.strip()] = column.strip()
    return by_role


def parse_columns(told: Mapping[str, str]) -> Columns:
    """Return what the columns hold. Raises ValueError, with the mend, on what can't be or is not enough."""
    texts = {_OTHER_NAMES.get(role, role): text for role, text in told.items()}
    for role in texts:
        if role not in ROLES:
            raise ValueError(f"{role!r} is no column of a log of operations: {meant_or_known(role, ROLES)}")
    moments = {role: _column(texts[role]) for role in MOMENTS if role in texts}
    latencies = [role for role in LATENCIES if role in texts]
    _require_sound(set(moments), latencies)
    ok, ok_values = _with_values(texts.get("ok", ""))
    only, only_values = _with_values(texts.get("only", ""))
    if only and not only_values:
        raise ValueError(f"`only={only}` names no value: write `only={only}:VALUE`, several with `|`")
    return Columns(
        moments=moments,
        latency=_column(texts[latencies[0]]) if latencies else None,
        is_response="due" in moments or latencies == ["response"],
        operation=Column(texts["operation"]) if "operation" in texts else None,
        ok=tuple(Column(name) for name in ok.split("|") if name),
        ok_values=ok_values,
        error=Column(texts["error"]) if "error" in texts else None,
        only=Column(only) if only else None,
        only_values=only_values,
        delimiter=_delimiter(texts.get("delimiter", "")),
    )


def named_unit(name: str) -> str:
    """Return the unit that the name of a column ends with: `ms` of `elapsed_ms`; empty where there is none."""
    match = _NAMED_UNIT.search(name)
    return match.lastgroup or "" if match else ""


def implied(names: Iterable[str]) -> dict[str, str]:
    """Return the pairs of a header that names its columns as `--columns` does: `time_ms,latency_us,operation,ok`.

    Empty where these columns are not enough to read operations.
    """
    columns: dict[str, str] = {}
    for name in names:
        unit = _NAMED_UNIT.search(name)
        role = (name[: unit.start()] if unit else name).strip().lower()
        # The last two, `only` and `delimiter`, say how to read a log and are no columns of it
        if _OTHER_NAMES.get(role, role) in ROLES[:-2]:
            columns.setdefault(_OTHER_NAMES.get(role, role), name)
    try:
        parse_columns(columns)
    except ValueError:
        return {}
    return columns


def _require_sound(moments: set[Moment], latencies: list[str]) -> None:
    if not moments:
        raise ValueError(f"say when operations were sent (`time`), were due (`due`) or ended (`end`): {EXAMPLE}")
    if len(moments) + len(latencies) > 2:
        raise ValueError(
            "give one of `time`, `due` and `end`, and one of `latency` and `response`, or `end` beside one"
        )
    if not latencies and (len(moments) < 2 or "end" not in moments):
        raise ValueError(f"say how long operations took (`latency`), or when they ended (`end`): {EXAMPLE}")
    if latencies == ["response"] and "time" in moments:
        raise ValueError(
            "`response` counts from the intended start, so `time` (of the send) does not say when an operation ended: "
            "name the column of the intended start as `due`, or that of the end as `end`"
        )


def _column(text: str) -> Column:
    name, colon, unit = text.rpartition(":")
    if colon and name and unit in SECONDS_OF:
        return Column(name, unit)
    return Column(text, named_unit(text))


def _with_values(text: str) -> tuple[str, frozenset[str]]:
    name, colon, values = text.partition(":")
    return name, frozenset(values.split("|")) if colon else frozenset()


def _delimiter(text: str) -> str:
    delimiter = _DELIMITERS.get(text, text)
    if len(delimiter) > 1:
        raise ValueError(f"{text!r} is no delimiter: write one character, or one of {', '.join(_DELIMITERS)}")
    return delimiter


def _checked(columns: dict[str, str]) -> dict[str, str]:
    if columns:
        parse_columns(columns)
    return columns


ColumnPairs = Annotated[dict[str, str], AfterValidator(_checked)]
"""The columns of a definition or of an import's description."""
