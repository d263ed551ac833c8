"""Stands in for ScyllaDB's server: takes the options it is given here and no others, listens, and logs in its format.

It speaks no CQL. A node that is no seed ends unless its seed listens. It first answers that one
compaction is left.
"""

import argparse
import http.server
import json
import re
import socket
import sys
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

VERSION = "4.4.3-0.20210714.ce3b5e9a5"
OPTIONS = (
    "--options-file",
    "--log-to-stdout",
    "--log-to-syslog",
    "--default-log-level",
    "--smp",
    "--memory",
    "--io-properties-file",
)
TOO_MANY_SHARDS = 64
PENDING = [1]


def say(message: str, level: str = "INFO ") -> None:
    """Log a line of the first shard."""
    now = datetime.now().astimezone()
    print(f"{level} {now:%Y-%m-%d %H:%M:%S},{now.microsecond // 1000:03} [shard 0] {message}", flush=True)


class Rest(http.server.BaseHTTPRequestHandler):
    """The REST API and the metrics."""

    def do_GET(self) -> None:
        """Answer what is known."""
        answers: dict[str, Callable[[], str]] = {
            "/storage_service/scylla_release_version": lambda: json.dumps(VERSION),
            "/compaction_manager/metrics/pending_tasks": lambda: json.dumps(PENDING.pop() if PENDING else 0),
            "/metrics": lambda: "scylla_reactor_stalls 1\n",
        }
        self.send_response(200 if self.path in answers else 404)
        self.end_headers()
        self.wfile.write(answers.get(self.path, str)().encode())

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def main() -> None:
    """Start, and serve until a signal comes."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for option in OPTIONS:
        parser.add_argument(option)
    parser.add_argument("--overprovisioned", action="store_true")
    options = parser.parse_args()
    text = Path(options.options_file).read_text(encoding="utf-8")
    found = re.findall(r"^ *-? *(\w+):(?: *\n +| +)([^\s-]\S*)$", text, re.MULTILINE)
    settings = {name: value.strip("'\"") for name, value in found}
    print(f"Scylla version {VERSION} with build-id 5e9a starting ...", flush=True)
    if int(options.smp or 1) > TOO_MANY_SHARDS:
        say("init - Could not setup Async I/O: Not enough request slots. Increase /proc/sys/fs/aio-max-nr", "ERROR")
        sys.exit(1)
    address, seed = settings["listen_address"], settings["seeds"]
    if seed != address:
        socket.create_connection((seed, int(settings["storage_port"])), timeout=1).close()
    Path(settings["workdir"], "data").mkdir(parents=True)
    ports = ("storage_port", "native_transport_port", "native_shard_aware_transport_port")
    listening = [socket.create_server((address, int(settings[name]))) for name in ports]
    for name in ("api", "prometheus"):
        place = settings[f"{name}_address"], int(settings[f"{name}_port"])
        threading.Thread(target=http.server.ThreadingHTTPServer(place, Rest).serve_forever, daemon=True).start()
    say(
        "compaction - [Compact ks.t 1] Compacted 2 sstables to [me-1]. 9kB to 5kB (~55% of original) in 120ms = 41kB/s."
    )
    print("Reactor stalled for 41 ms on shard 1. Backtrace: 0x4d4a902 0x4d49560", flush=True)
    say(f"init - Starting listening for CQL clients on {listening[1].getsockname()} (unencrypted, non-shard-aware)")
    threading.Event().wait()


if __name__ == "__main__":
    main()
