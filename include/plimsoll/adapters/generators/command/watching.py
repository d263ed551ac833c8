"""How a command is watched as it runs: which rules its words can keep, and what the watcher is given and tells."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from inspect import getsource

from pydantic import ValidationError

from plimsoll.adapters.generators.command import watcher
from plimsoll.adapters.generators.command.watcher import ERRORS, ERRORS_S, FIGURES, LONGEST_S, percentile_of
from plimsoll.adapters.generators.foreign_load import END, LEASE, LOAD, Command, Load, parse_object
from plimsoll.adapters.hosts.base import PYTHON
from plimsoll.domain.attempt.load_summary import BrokenRule
from plimsoll.domain.keys.system import LoadCommand
from plimsoll.domain.keys.timing import StopRule
from plimsoll.domain.text.errors import LoadError
from plimsoll.ports.load_generator import LoadRequest

WATCHER, WATCH = "watcher.py", "{}.watch.json"
LEASE_S = 60
"""The time after which nobody watches a load, s."""
_MILLISECOND = timedelta(milliseconds=1)
_ROUNDING_S = 1.0
"""By so much two lines of a second's time may seem farther apart."""


def has_groups(progress: str) -> bool:
    """Tell whether the pattern has named groups, so that a watcher reads it."""
    return "(?P<" in progress


def unkept(rule: StopRule, progress: str) -> str:
    """Explain why what the program prints can't keep that rule; empty where it can."""
    groups = re.compile(progress).groupindex if has_groups(progress) else {}
    if rule.errors is not None:
        lacks = f"`{ERRORS}` or `{ERRORS_S}`" if not {ERRORS, ERRORS_S} & set(groups) else ""
    else:
        percentiles = {percentile[0] for percentile in map(percentile_of, groups) if percentile}
        written = f"{rule.percentile:g}".replace(".", "_")
        lacks = f"`p{written}_ms`, `p{written}_us` or `p{written}_s`" if rule.percentile not in percentiles else ""
    return f"`load_generator.command.progress` has no group {lacks}" if lacks else ""


def watched(load: Load, request: LoadRequest, command: LoadCommand) -> Load:
    """Return the load with its commands under the watcher, and the files that this needs; as it is where nothing is
    watched: a pattern without groups, on a database of the load's own.
    """
    spec, is_leased = request.spec, request.database is not None
    pattern = command.progress if has_groups(command.progress or "") else None
    if not (pattern or is_leased):
        return load
    # The lease is there from the start, because the watcher may look before anybody has renewed it
    files = {WATCHER: getsource(watcher), **({LEASE: ""} if is_leased else {})}
    commands = list[Command]()
    for step in load.commands:
        is_judged = pattern is not None and step.name == LOAD
        if not (is_judged or is_leased):
            commands.append(step)
            continue
        watch = WATCH.format(step.name)
        files[watch] = json.dumps(
            {
                "pattern": pattern if is_judged else None,
                "console": step.console,
                "rules": [_rule(rule) for rule in spec.stop_when] if is_judged else [],
                "signal": command.stop_signal or "TERM",
                "duration_s": spec.timing.duration.total_seconds(),
                "lease": LEASE if is_leased else None,
                "lease_s": LEASE_S,
                "end": END if is_judged and request.parts > 1 else None,
            }
        )
        commands.append(replace(step, argv=(*PYTHON, WATCHER, watch, "--", *step.argv)))
    return replace(load, commands=commands, files=files)


def _rule(rule: StopRule) -> dict[str, float | None]:
    return {
        "share": rule.share,
        "percentile": rule.percentile,
        "above_ms": rule.above / _MILLISECOND if rule.above else None,
        "within_s": rule.within.total_seconds(),
    }


def slow_lines(figures: str, watch: str) -> Iterator[str]:
    """Yield a remark on each rule that the program's lines came too seldom for; the texts are those of its files."""
    longest_s = float(parse_object(FIGURES, figures).get(LONGEST_S, 0.0))
    for number, rule in enumerate(parse_object(WATCH.format(LOAD), watch).get("rules", [])):
        if longest_s > rule["within_s"] + _ROUNDING_S:
            within, apart = f"{rule['within_s']:g} s", f"{longest_s:.0f} s"
            yield f"`stop_when[{number}]` was kept late: its time is {within}, and lines came up to {apart} apart"


def broken_rule(text: str) -> BrokenRule | None:
    """Return the rule that ended the load, by the watcher's file; None for no text. Raises LoadError."""
    try:
        return BrokenRule.model_validate_json(text) if text else None
    except ValidationError as error:
        raise LoadError(f"the load's {watcher.STOPPED} is damaged", where="load generator", mend=str(error)) from error
