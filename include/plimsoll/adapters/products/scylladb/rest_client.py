"""Ask nodes over their REST API, and for their metrics. Runs on the nodes' own machine and imports nothing of its own.

version PLACE…         prints the release that each node reports, as a JSON array
settle SECONDS PLACE…  waits, at most so long, until no node has compactions left; prints how that ended, as JSON
metrics FILE PLACE     writes the node's metrics to the file

A PLACE is `ADDRESS:PORT`.
"""

from __future__ import annotations

import json
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

_TIMEOUT_S, _PAUSE_S = 10.0, 1.0
_MOST_BYTES = 64 << 20


def main(command: str, *arguments: str) -> Any:
    """Run the command, and return the content of its output."""
    if command == "version":
        return [answer_of(place, "storage_service/scylla_release_version") for place in arguments]
    if command == "settle":
        return settled(float(arguments[0]), arguments[1:])
    file, place = arguments
    return Path(file).write_bytes(_read(place, "metrics"))


def settled(patience_s: float, places: tuple[str, ...]) -> dict[str, Any]:
    """Return the compactions that are left at each node, once there are none or the time is over."""
    began, left, error = time.monotonic(), dict[str, int](), ""
    while True:
        try:
            left, error = {place: answer_of(place, "compaction_manager/metrics/pending_tasks") for place in places}, ""
        except (OSError, ValueError) as problem:
            error = str(problem)
        waited_s, is_done = time.monotonic() - began, not error and not any(left.values())
        if is_done or waited_s >= patience_s:
            return {"settled": is_done, "left": left, "waited_s": round(waited_s, 1), "error": error}
        time.sleep(_PAUSE_S)


def answer_of(place: str, path: str) -> Any:
    """Return the answer of the REST API. OSError or ValueError where there is none."""
    return json.loads(_read(place, path))


def _read(place: str, path: str) -> bytes:
    # A proxy that the environment names has no way to a loopback address.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://{place}/{path}", timeout=_TIMEOUT_S) as answer:
        content: bytes = answer.read(_MOST_BYTES)
        return content


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
