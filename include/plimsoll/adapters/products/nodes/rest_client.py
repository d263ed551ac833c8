"""Ask processes over HTTP, on their own machine. It runs there, and imports nothing of its own.

get URL…                       prints what each answers, as a JSON array of `{"answer": …}` or `{"error": …}`
settle SECONDS ENDINGS URL…    waits, at most so long, until no process has work left; prints how that ended, as JSON
save FILE URL                  writes the answer to the file

An answer is JSON. The work left is the answer itself if that is a number, else the sum of the numbers anywhere in it
whose names end with one of the ENDINGS, which are separated by commas. A URL lacks its `http://`.
"""

from __future__ import annotations

import json
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_TIMEOUT_S, _PAUSE_S = 10.0, 1.0
_MOST_BYTES = 64 << 20
_IN_A_ROW = 3
"""So often there must be no work: figures may lag behind, and one piece of work may begin the next."""


def main(command: str, *arguments: str) -> Any:
    """Run the command, and return the content of its output."""
    if command == "get":
        return [_answer(url) for url in arguments]
    if command == "settle":
        patience, endings, *urls = arguments
        return settled(float(patience), tuple(filter(None, endings.split(","))), urls)
    file, url = arguments
    return Path(file).write_bytes(_read(url))


def settled(patience_s: float, endings: tuple[str, ...], urls: list[str]) -> dict[str, Any]:
    """Return the work that is left at each URL, once there is none or the time is over."""
    began, idle, left, error = time.monotonic(), 0, dict[str, int](), ""
    while True:
        try:
            left, error = {url: sum(work_left(json.loads(_read(url)), endings)) for url in urls}, ""
        except (OSError, ValueError) as problem:
            error = str(problem)
        idle = idle + 1 if not error and not any(left.values()) else 0
        waited_s = time.monotonic() - began
        if idle == _IN_A_ROW or waited_s >= patience_s:
            return {"settled": idle == _IN_A_ROW, "left": left, "waited_s": round(waited_s, 1), "error": error}
        time.sleep(_PAUSE_S)


def work_left(answer: Any, endings: tuple[str, ...]) -> Iterator[int]:
    """Yield the numbers of an answer that count work."""
    if isinstance(answer, list):
        for item in answer:
            yield from work_left(item, endings)
    elif isinstance(answer, dict):
        for name, value in answer.items():
            if isinstance(value, int) and name.endswith(endings):
                yield value
            elif isinstance(value, (list, dict)):
                yield from work_left(value, endings)
    elif not endings and isinstance(answer, int):
        yield answer


def _answer(url: str) -> dict[str, Any]:
    try:
        return {"answer": json.loads(_read(url))}
    except (OSError, ValueError) as error:
        return {"error": str(error)}


def _read(url: str) -> bytes:
    # A proxy that the environment names has no way to a loopback address.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://{url}", timeout=_TIMEOUT_S) as answer:
        content: bytes = answer.read(_MOST_BYTES)
        return content


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
