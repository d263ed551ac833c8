"""The summary of YCSB's console output: figures of the whole run, and how operations ended."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from plimsoll.analysis.logs.formats.reading import WholeRun, failures_at
from plimsoll.analysis.logs.formats.ycsb_logs import INTENDED, failed_kind, meaning
from plimsoll.analysis.logs.operations import Failures

Summary = Mapping[str, Mapping[str, float]]
"""Figures by name, by measurement."""

_SUMMARY = re.compile(r"^\[(?P<name>[^\[\],\n]+)\], (?P<what>[^,\n]+), (?P<value>[\d.]+)\s*$", re.MULTILINE)
_PERCENTILE = re.compile(r"(?P<percentile>[\d.]+?)(st|nd|rd|th)?PercentileLatency\(us\)")
_RETURN = "Return="
_ANSWERED = ("OK", "BATCHED_OK", "0")
"""Results of operations that did not fail; releases of before 2015 write numbers."""
_ANY = "FAILED"
"""The measurement of all failures whose results are not measured apart."""
_US_PER_MS = 1000


def read_summary(text: str) -> dict[str, dict[str, float]]:
    """Return the figures of each measurement."""
    found: dict[str, dict[str, float]] = {}
    for line in _SUMMARY.finditer(text):
        with suppress(ValueError):
            found.setdefault(line["name"], {})[line["what"]] = float(line["value"])
    return found


def whole_run(summary: Summary, operations: Mapping[str, str]) -> Iterator[WholeRun]:
    for name, figures in summary.items():
        if "Operations" in figures and name in operations:
            values = {
                float(one["percentile"]): value / _US_PER_MS
                for what, value in figures.items()
                if (one := _PERCENTILE.fullmatch(what))
            }
            highest = {100.0: figures["MaxLatency(us)"] / _US_PER_MS} if "MaxLatency(us)" in figures else {}
            yield WholeRun(operations[name], round(figures["Operations"]), values | highest)


def failures_of(
    file: str, failed: Iterable[tuple[str, float, int]], summary: Summary, kinds: Mapping[str, str]
) -> tuple[dict[str, int], tuple[Failures, ...]]:
    """Return the whole run's failures by result, and those whose times are known.

    `failed`: measurements with the times and numbers of failures. They are among those that the summary counts by their
    results, and both measures of an operation count the same.
    """
    times: dict[str, dict[str, list[tuple[float, int]]]] = {}
    every = list(failed)
    names = {name for name, _, _ in every}
    for name, at_s, count in every:
        if not name.startswith(INTENDED) or name.removeprefix(INTENDED) not in names:
            times.setdefault(_operation(name), {}).setdefault(failed_kind(name), []).append((at_s, count))
    errors: dict[str, int] = {}
    found: list[Failures] = []
    for operation in dict.fromkeys([*times, *map(_operation, summary)]):
        timed, returned = times.get(operation, {}), _returned(summary, operation)
        others = {kind: count for kind, count in returned.items() if kind not in timed}
        if _ANY in timed and others:
            only = next(iter(others)) if len(others) == 1 else _ANY
            timed = {only if kind == _ANY else kind: figures for kind, figures in timed.items()}
            returned = {kind: returned[kind] for kind in timed if kind in returned} | {only: sum(others.values())}
        for kind in dict.fromkeys([*timed, *returned]):
            counted = sum(count for _, count in timed.get(kind, ()))
            if most := max(counted, returned.get(kind, 0)):
                errors[kind] = errors.get(kind, 0) + most
        judged_as = kinds.get(operation.lower(), operation)
        for kind, figures in timed.items():
            found += failures_at(f"{file}, {operation}-{kind}", kind, figures, judged_as)
    return errors, tuple(found)


def _operation(name: str) -> str:
    found = meaning(name)
    return found[1] if found else name


def _returned(summary: Summary, operation: str) -> dict[str, int]:
    """Return how often an operation failed, by result; where the summary has no results, by measurement."""
    found: dict[str, int] = {}
    has_results = False
    for name, figures in summary.items():
        for what, value in figures.items():
            if _operation(name) == operation and what.startswith(_RETURN):
                has_results = True
                kind = what.removeprefix(_RETURN)
                if kind not in _ANSWERED:
                    found[kind] = max(found.get(kind, 0), round(value))
    if not has_results:
        for name, figures in summary.items():
            known = meaning(name)
            if known and known == ("time of failures", operation) and "Operations" in figures:
                kind = failed_kind(name)
                found[kind] = max(found.get(kind, 0), round(figures["Operations"]))
    return found
