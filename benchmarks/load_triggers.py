"""Many loads polled by one event loop, as in a triggerer, on AWS's API and a real sshd: is the loop ever delayed?

    .venv/bin/python -m benchmarks.load_triggers [--cells N] [--seconds N]

The triggers are Plimsoll's own and poll every 10 s, as in the published campaign; `tests/support/cloud/many_loads.py`
makes the hosts. The command first prints the lateness of a loop without loads, because on a busy machine that is late
too. Then it prints the loop's lateness (of a timer of 20 ms), the CPU time of this process alone, its connections and
threads, and the longest time between two polls of a cell; and then the same figures with every third connection frozen.
"""

import argparse
import asyncio
import os
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import psutil
from tests.support.cloud.many_loads import Looks, Site, running_site, trigger_of

from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.steps import steps
from plimsoll.services.toolkit import Toolkit
from plimsoll_airflow.triggers import load

_TICK_S = 0.02
# Time for the first connections, which a campaign opens only once.
_SETTLING_S = 20.0


def main() -> None:
    """Print the figures of both rounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=55, help="55 at most")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each round")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plimsoll-triggers-") as folder, running_site(Path(folder)) as site:
        site.start(arguments.cells)
        print(_told("nothing followed", asyncio.run(_followed(site, [], arguments.seconds))))
        print(_told(f"{arguments.cells} cells", asyncio.run(_followed(site, site.works, arguments.seconds))))
        with _every_third_frozen(site):
            print(_told("every third frozen", asyncio.run(_followed(site, site.works, arguments.seconds))))
        load.THREADS.shutdown()  # otherwise polls in progress would open connections again


@dataclass(frozen=True)
class Figures:
    """The figures of one round. Times are in s, sorted."""

    late: list[float]
    cpu_share: float
    connections: int
    threads: int
    longest_pauses: list[float]


async def _followed(site: Site, works: Sequence[AttemptContext], seconds: float) -> Figures:
    """Poll these loads at the same time for that long."""
    declared, looks = steps.STEPS, Looks()
    steps.STEPS = tuple(_looked_at_by(looks, step) for step in declared)
    process, toolkit = psutil.Process(), site.toolkit()
    tasks = [asyncio.ensure_future(_follow(toolkit, work)) for work in works]
    await asyncio.sleep(_SETTLING_S)
    before, began = process.cpu_times(), time.monotonic()
    late = [late async for late in _ticks(began + seconds)]
    after, ended = process.cpu_times(), time.monotonic()
    figures = Figures(
        late=sorted(late),
        cpu_share=(after.user + after.system - before.user - before.system) / (ended - began),
        connections=len(site.connected()),
        threads=process.num_threads(),
        longest_pauses=sorted(_longest_pause(looks.of(work), began, ended) for work in works),
    )
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    steps.STEPS = declared
    return figures


def _looked_at_by(looks: Looks, step: steps.Step) -> steps.Step:
    return step if step.polling is None else replace(step, polling=replace(step.polling, look=looks))


async def _follow(toolkit: Toolkit, work: AttemptContext) -> None:
    async for event in trigger_of(toolkit, work).run():
        print(f"{work.key} ended: {event}")


async def _ticks(until: float) -> AsyncIterator[float]:
    """The lateness of the loop at each tick, s."""
    while (now := time.monotonic()) < until:
        await asyncio.sleep(_TICK_S)
        yield time.monotonic() - now - _TICK_S


def _longest_pause(times: list[float], began: float, ended: float) -> float:
    marks = [began, *(at for at in times if began <= at <= ended), ended]
    return max(later - earlier for earlier, later in pairwise(marks))


@contextmanager
def _every_third_frozen(site: Site) -> Iterator[None]:
    """Inside the block every third connection stays open and does not answer."""
    frozen = site.sshd.sessions()[::3]
    _signal(frozen, signal.SIGSTOP)
    try:
        yield
    finally:
        _signal(frozen, signal.SIGCONT)


def _signal(processes: list[psutil.Process], number: int) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            os.kill(process.pid, number)


def _told(what: str, figures: Figures) -> str:
    late, pauses = figures.late, figures.longest_pauses
    looked = f"{pauses[len(pauses) // 2]:.1f} s (median cell), {pauses[-1]:.1f} s (worst)" if pauses else "none"
    return (
        f"{what}: loop late by {1000 * late[len(late) // 2]:.1f} ms (median), "
        f"{1000 * late[int(0.99 * len(late))]:.1f} ms (p99), {1000 * late[-1]:.1f} ms (most); "
        f"CPU {100 * figures.cpu_share:.1f} % of a core; {figures.connections} SSH connections, "
        f"{figures.threads} threads; longest pause between two looks at a cell: {looked}"
    )


if __name__ == "__main__":
    main()
