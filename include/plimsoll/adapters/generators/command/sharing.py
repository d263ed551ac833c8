"""How several load hosts share the load of a command: their parts of the rate, and the wait for a common start."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from inspect import getsource

from plimsoll.adapters.generators.command import starter
from plimsoll.adapters.generators.foreign_load import Command, Load
from plimsoll.adapters.hosts.base import PYTHON
from plimsoll.domain.keys.system import LoadCommand, placeholders
from plimsoll.ports.load_generator import LoadRequest

WAIT = "start"
"""The name of the command that waits for the start."""
START, STARTER = "start.json", "starter.py"
PART = "part"


def populates(request: LoadRequest, command: LoadCommand) -> bool:
    """Tell whether that host populates: the first, or all where the command knows whose part it writes."""
    return bool(command.populate) and (request.part == 1 or PART in placeholders(command.populate or ""))


def seed_of(request: LoadRequest) -> int:
    """Return a seed that no other host of the load has."""
    return (request.seed + request.part - 1) % 2**31 or 1


def waiting(load: Load, request: LoadRequest) -> Load:
    """Return the load with a wait before its timed run, where it has to wait."""
    if request.parts == 1 and not request.waits:
        return load
    *earlier, timed = load.commands
    wait = Command(WAIT, (*PYTHON, STARTER, START))
    return replace(load, commands=[*earlier, wait, timed], files={**load.files, STARTER: getsource(starter)})


def told(start: datetime, local: datetime) -> str:
    """Return what the host is told: the start by the first host's clock, and by its own."""
    return json.dumps({"start": start.astimezone(UTC).isoformat(), "local": local.timestamp()})


def start_in(text: str) -> datetime | None:
    """Return the start by the first host's clock; None for no text."""
    return datetime.fromisoformat(json.loads(text)["start"]) if text else None
