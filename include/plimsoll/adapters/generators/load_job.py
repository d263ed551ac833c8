"""The job of a load on its host, in the form that all load generators share: folder, plan, console output."""

import json
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any

from plimsoll.domain.errors import LoadError
from plimsoll.domain.wording import shortened
from plimsoll.ports.host import Host

PLAN = "plan.json"
"""The file with the settings of the load, beside the files that the generator wrote."""
GRACE = timedelta(seconds=20)
"""The time that a generator gets to end, in which it flushes its logs."""
TAIL_BYTES = 65_536
"""The most that is read of a file while the load runs."""
_CONSOLE_LINES = 10


def folder_of(host: Host) -> PurePosixPath:
    """Return the folder of the load's files on its host."""
    return host.root / "load"


def parse_plan(text: str) -> dict[str, Any]:
    """Return the content of the file `PLAN`; empty for no text. Raises LoadError where Plimsoll did not write it."""
    try:
        told = json.loads(text) if text else {}
        if isinstance(told, dict):
            return told
    except (ValueError, RecursionError):
        pass
    raise LoadError(f"the load's {PLAN} is damaged", where="load generator", mend="run the cell again")


def last_lines(console: str) -> str:
    """Return the last lines of generators' output, to follow the reason of its failure; empty if it printed nothing."""
    lines = [shortened(line) for line in console.splitlines()[-_CONSOLE_LINES:]]
    return "".join(f"\n  {line}" for line in ["its console's last lines:", *lines]) if lines else ""
