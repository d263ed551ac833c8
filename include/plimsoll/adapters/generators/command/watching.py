"""How a command is watched as it runs: which rules its words can keep, and what the watcher is given and tells."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from inspect import getsource

from pydantic import ValidationError

from plimsoll.adapters.generators.command import watcher
from plimsoll.adapters.generators.command.watcher import ERRORS, ERRORS_S, percentile_of
from plimsoll.adapters.generators.foreign_load import CONSOLE
from plimsoll.domain.attempt.load_summary import BrokenRule
from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.keys.system import LoadCommand
from plimsoll.domain.keys.timing import StopRule
from plimsoll.domain.text.errors import LoadError

WATCHER, WATCH = "watcher.py", "stop-rules.json"
_MILLISECOND = timedelta(milliseconds=1)


def has_groups(progress: str) -> bool:
    """Tell whether the pattern has named groups, so that a watcher reads it."""
    return "(?P<" in progress


def unkept(rule: StopRule, progress: str) -> str:
    """Explain why what the program prints can't keep that rule; empty where it can."""
    groups = re.compile(progress).groupindex if has_groups(progress) else {}
    if rule.errors is not None:
        lacks = f"`{ERRORS}` or `{ERRORS_S}`" if not {ERRORS, ERRORS_S} & set(groups) else ""
    else:
        told = {found[0] for found in map(percentile_of, groups) if found}
        written = f"{rule.percentile:g}".replace(".", "_")
        lacks = f"`p{written}_ms`, `p{written}_us` or `p{written}_s`" if rule.percentile not in told else ""
    return f"`load_generator.command.progress` has no group {lacks}" if lacks else ""


def watched(argv: Sequence[str], spec: LoadSpec, command: LoadCommand) -> tuple[Sequence[str], Mapping[str, str]]:
    """Return how the command runs under the watcher, and the files that it needs beside it; as it is without groups."""
    if not has_groups(command.progress or ""):
        return argv, {}
    asked = {
        "pattern": command.progress,
        "console": CONSOLE,
        "rules": [_rule(rule) for rule in spec.stop_when],
        "signal": command.stop_signal or "TERM",
        "duration_s": spec.timing.duration.total_seconds(),
    }
    # Isolated: neither the user's packages nor PYTHON* variables get into it.
    program = ("python3", "-I", "-S", "-B", WATCHER, WATCH, "--")
    return (*program, *argv), {WATCHER: getsource(watcher), WATCH: json.dumps(asked)}


def _rule(rule: StopRule) -> dict[str, float | None]:
    return {
        "share": rule.share,
        "percentile": rule.percentile,
        "above_ms": rule.above / _MILLISECOND if rule.above else None,
        "within_s": rule.within.total_seconds(),
    }


def rate_in(text: str) -> float | None:
    """Return the newest rate that the watcher has read; None before the first."""
    return float(json.loads(text)[watcher.RATE]) if text else None


def broken_rule(text: str) -> BrokenRule | None:
    """Return the rule that ended the load, by the watcher's file; None for no text. Raises LoadError."""
    try:
        return BrokenRule.model_validate_json(text) if text else None
    except ValidationError as error:
        raise LoadError(f"the load's {watcher.STOPPED} is damaged", where="load generator", mend=str(error)) from error
