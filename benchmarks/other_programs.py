"""What the sampler tells of other programs beside a load of many short bursts, and what telling it costs.

    .venv/bin/python -m benchmarks.other_programs [--seconds 10]

The true share of each program is by the kernel's clock of that process. *By ticks* is the sum of what `/proc/stat`
counted as work, less what the load took: the way that was left. It has a meaning only on a calm machine; all other
figures are of the programs that run here, whatever else the machine does.
"""

import argparse
import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.support.busy import bursts, processor_s

from plimsoll.adapters.hosts.sampler.counters import TICKS, cpu
from plimsoll.adapters.hosts.sampler.programs import Programs

_CLUSTER = "benchmark/other-programs/1"
_LOAD = ((20, 0.000_05, 0.002), (40, 0.000_1, 0.02))
"""Threads, s of work, s of pause."""
_OTHERS: Sequence[Sequence[tuple[int, float, float]]] = (
    (),
    ((1, 0.001, 0.009),),
    ((1, 0.004, 0.006),),
    ((1, 0.01, 0.0),),
    ((20, 0.000_05, 0.002),),
)


def main() -> None:
    """Print a line for each set of other programs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    seconds = parser.parse_args().seconds
    print("shares of all processors; cost: of one processor, a look each second")
    print(f"{'other programs':>20} {'load':>7} {'true':>7} {'told':>7} {'off by':>7} {'by ticks':>8} {'cost':>7}")
    for others in _OTHERS:
        _measure(others, seconds)


def _measure(others: Sequence[tuple[int, float, float]], seconds: int) -> None:
    with ExitStack() as stack:
        load = [stack.enter_context(bursts(*one, env={"PLIMSOLL_CLUSTER": _CLUSTER})) for one in _LOAD]
        foreign = [stack.enter_context(bursts(*one)) for one in others]
        time.sleep(1)
        programs = Programs(f"PLIMSOLL_CLUSTER={_CLUSTER}".encode())
        told_s = own_s = cost_s = 0.0
        programs.look()
        before, began = _taken(load, foreign), time.monotonic()
        for _ in range(seconds):
            time.sleep(1)
            start = time.process_time()
            taken = programs.look()
            cost_s += time.process_time() - start
            assert taken is not None
            told_s += sum(taken.others.get(f"python({pid})", 0.0) for pid in foreign) / TICKS
            own_s += taken.own / TICKS
        after, passed = _taken(load, foreign), time.monotonic() - began
        whole = passed * (os.cpu_count() or 1)
        own, true, ticks = ((new - old) / whole for new, old in zip(after, before, strict=True))
        words = ", ".join(f"{n} x {work * 1000:g}/{pause * 1000:g} ms" for n, work, pause in others) or "none"
        told = told_s / whole
        figures = f"{own:7.1%} {true:7.1%} {told:7.1%} {told - true:7.1%} {ticks - own:8.1%} {cost_s / passed:7.2%}"
        print(f"{words:>20} {figures}  (load told: {own_s / whole:.1%})", flush=True)


def _taken(load: Sequence[int], foreign: Sequence[int]) -> tuple[float, float, float]:
    """Return processor time of the load, of the other programs, and what the clock's ticks counted, s."""
    counted = cpu(Path("/proc/stat").read_text())
    return sum(map(processor_s, load)), sum(map(processor_s, foreign)), (counted["user"] + counted["system"]) / TICKS


if __name__ == "__main__":
    main()
