"""Waits for the common start of several load hosts, on each of them: for the file that tells it, then for its time.
Imports nothing of its own:

    starter.py START

The file START, JSON, holds `local`: the time to start, s since the epoch by this host's clock.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

_PAUSE_S = 0.1
_LATE_S = 1.0
"""By so much later than the others a host may hear of the start, which files without times of day would not show."""


def wait(start: Path) -> None:
    """Return once it is time. A job's own limit ends a wait that nobody answers."""
    while not start.exists():
        time.sleep(_PAUSE_S)
    start_s = json.loads(start.read_text(encoding="utf-8"))["local"]
    late_s = time.time() - start_s
    if late_s > _LATE_S:
        sys.exit(f"the common start was told {late_s:.1f} s late")
    time.sleep(max(0.0, -late_s))


if __name__ == "__main__":
    wait(Path(sys.argv[1]))
