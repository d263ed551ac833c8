"""Programs of a known share of a processor, to hold against what a sampler tells of them."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_PROGRAM = """
import sys, threading, time
threads, work, pause = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
def bursts():
    while True:
        end = time.thread_time() + work
        while time.thread_time() < end:
            pass
        time.sleep(pause)
for _ in range(threads):
    threading.Thread(target=bursts, daemon=True).start()
print(flush=True)
sys.stdin.read()
"""


@contextmanager
def bursts(threads: int, work_s: float, pause_s: float, env: Mapping[str, str] | None = None) -> Iterator[int]:
    """Run a program of so many threads, each of which works and pauses again and again. Yields its process id."""
    argv = (sys.executable, "-I", "-S", "-c", _PROGRAM, str(threads), str(work_s), str(pause_s))
    environment = {**os.environ, **(env or {})}
    # It ends with this process too, as its standard input does.
    with subprocess.Popen(argv, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        try:
            assert program.stdout is not None
            program.stdout.readline()
            yield program.pid
        finally:
            program.kill()


def processor_s(pid: int) -> float:
    """Return the processor time of a process, s: the kernel's clock of that process, read in no file."""
    return time.clock_gettime(~pid << 3 | 2)
