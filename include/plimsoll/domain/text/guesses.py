"""Guess what a person meant: by a quantity that definitions write otherwise, such as `1h30m`, `512MB`, `1000 ops/s`,
`$1500`, or by something that a definition can't express.

A guess is only ever shown, as what to write; it is never taken as the value.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

_NUMBER = r"(?P<number>\d{1,3}(?:[,_' ]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?(?:e\d{1,2})?)"
_DURATIONS = {
    "us": r"[uµμ]s(?:ecs?)?|microseconds?",
    "ms": r"ms(?:ecs?)?|millis(?:econds?)?",
    "s": r"s(?:ecs?|econds?)?",
    "m": r"m(?:ins?|inutes?)?",
    "h": r"h(?:rs?|ours?)?",
    "d": r"d(?:ays?)?",
    "w": r"w(?:ks?|eeks?)?",
}
_MICROSECONDS = {"us": 1, "ms": 10**3, "s": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
_MICROSECONDS["w"] = 7 * _MICROSECONDS["d"]
_DURATION = re.compile(
    _NUMBER + r"\s*(?:" + "|".join(f"(?P<{unit}>{words})" for unit, words in _DURATIONS.items()) + r")(?![a-zµμ])"
    r"\s*(?:and|,)?\s*"
)
# Three parts, because `1:30` may be of hours or of minutes
_CLOCK = re.compile(r"(\d{1,3}):([0-5]\d):([0-5]\d)")
_SIZE = re.compile(rf"(?:-xm[xs])?{_NUMBER}\s*(?P<unit>[kmgt]?)(?:ilo|ega|iga|era)?(?:bi)?(?:i?b|i|bytes?)?")
_PREFIX = r"(?P<prefix>k|m|g|bn?|mln|thousand|million|billion)?"
_COUNT = re.compile(rf"{_NUMBER}\s*{_PREFIX}\s*(?:rows|keys|partitions|records)?")
_RATE = re.compile(
    rf"{_NUMBER}\s*{_PREFIX}\s*(?:[rtqh]ps|(?:i?ops?|operations?|req(?:uest)?s?|quer(?:y|ies)|t(?:ransactions?|xn?s?))?"
    r"\s*(?:(?:/|per|a)\s*(?:s(?:ec(?:ond)?)?|(?P<minute>m(?:in(?:ute)?)?)|(?P<hour>h(?:our)?)))?)"
)
_USD = re.compile(rf"(?:us)?[$d]?\s*{_NUMBER}\s*(?P<prefix>[km])?\s*(?:us[d$]|dollars?|\$)?")
_TIMES: Mapping[str, int] = {"k": 10**3, "t": 10**3, "m": 10**6, "g": 10**9, "b": 10**9}
"""The first letter of a decimal multiple → how many."""
_BINARY: Mapping[str, int] = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_EACH = "write a definition for each, with the same ids, run them, and lay their campaigns side by side:"
_WAYS: Sequence[tuple[str, str]] = (
    (
        r"(variants|workloads|stages)\.\*\.nodes",
        f"all cells have `system.nodes` nodes. For several numbers of nodes {_EACH} `plimsoll compare A B --force`",
    ),
    (
        r"(variants|stages)\.\*\.(instance_?types?|node_?types?|hosts?|provider|machine|cpus?|vcpus?|memory|region|disk)",
        f"all variants run on the hosts of `provider`. For several kinds of hosts {_EACH} `plimsoll compare A B`",
    ),
    (
        r"variants\.\*\.(actions?|stages?)|stages\.\*\.variants?",
        "an action is done to all variants of its stage. For some variants only, write a definition of these with the "
        "stage and one of the others without it, run both, and lay them side by side: `plimsoll compare A B`",
    ),
    (
        r"((variants|stages|workloads?)\.(\*\.)?)?(clients?|threads|concurrency|connections|in_?flight|users)"
        r"|load_generator\.(clients?|connections|users|threads|concurrency)|loads\.(clients|threads)",
        "clients are no axis, loads are: `load_generator: {threads, concurrency}` with `loop: closed` makes so many "
        f"clients. For several numbers of them {_EACH} `plimsoll compare A B --force`",
    ),
    (
        r"variants\.\*\.(loads?|load_generator|timing|repeats|service_levels?|workloads?|loop|strategy|consistency"
        r"|replication_factor)",
        f"variants differ in product, version, archive, JVM and settings alone. For what else differs {_EACH} "
        "`plimsoll compare A B`",
    ),
)


def microseconds_meant(text: str) -> int | None:
    """Return what `1h30m`, `30 min`, `PT1H` or `00:30:00` means in µs; None for what can't be guessed."""
    text = text.strip().lower()
    if clock := _CLOCK.fullmatch(text):
        return sum(int(part) * _MICROSECONDS[unit] for part, unit in zip(clock.groups(), "hms", strict=True))
    rest, total = re.sub(r"^pt?(?=\d)", "", text), Decimal(0)
    while rest:
        if (part := _DURATION.match(rest)) is None:
            return None
        total += _number(part) * next(_MICROSECONDS[unit] for unit in _DURATIONS if part[unit])
        rest = rest[part.end() :]
    return _whole(total) if text else None


def bytes_meant(text: str) -> int | None:
    """Return what `512MB`, `1 GiB` or `31g` means in bytes, with binary multiples; None for what can't be guessed."""
    match = _SIZE.fullmatch(text.strip().lower())
    size = _whole(_number(match) * _BINARY[match["unit"]]) if match else None
    # A bare number is taken for bytes only if these are whole KiB: `512` may be of any unit
    return size if size and size % 1024 == 0 else None


def rate_meant(text: str) -> int | None:
    """Return what `1K/s`, `1000 ops/s` or `60k per minute` means in ops/s; None for what can't be guessed."""
    match = _RATE.fullmatch(text.strip().lower())
    return _whole(_times(match) / (3600 if match["hour"] else 60 if match["minute"] else 1)) if match else None


def count_meant(text: str) -> int | None:
    """Return what `100K`, `1,000,000` or `1 million rows` counts; None for what can't be guessed."""
    match = _COUNT.fullmatch(text.strip().lower())
    return _whole(_times(match)) if match else None


def usd_meant(text: str) -> float | None:
    """Return what `$1,500` or `1500 dollars` means in USD; None for other currencies, and what can't be guessed."""
    match = _USD.fullmatch(text.strip().lower())
    return float(_times(match)) if match else None


def number_meant(text: str, *, is_share: bool) -> float | None:
    """Return what `p99.9`, `99,9`, `99th` or `20%` means as a number, a share being 0 to 1; else None."""
    match = re.fullmatch(rf"p?{_NUMBER}\s*(?P<percent>%|percent)?(?:th)?", text.strip().lower())
    return float(_number(match) / (100 if is_share and match["percent"] else 1)) if match else None


def _times(match: re.Match[str]) -> Decimal:
    return _number(match) * _TIMES.get((match["prefix"] or " ")[0], 1)


def _number(match: re.Match[str]) -> Decimal:
    """Read a number in which a comma stands before three figures for thousands, else for the decimal point."""
    text = re.sub(r"[,_' ](?=\d{3}(?:\D|$))", "", match["number"])
    return Decimal(text.replace(",", "."))


def _whole(value: Decimal) -> int | None:
    return int(value) if value == round(value) else None


def way_around(path: Sequence[int | str]) -> str:
    """Return the way around what a key at that path asks for; empty for keys without one."""
    key = ".".join("*" if isinstance(part, int) else part for part in path)
    return next((way for pattern, way in _WAYS if re.fullmatch(pattern, key)), "")
