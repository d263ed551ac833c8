"""Samples of a host's activity while a cell runs, from `/proc`, by a program that any host with Python 3 can run."""

import csv
from collections.abc import Sequence
from datetime import timedelta
from inspect import getsource
from pathlib import PurePosixPath

from plimsoll.adapters.hosts.base import PYTHON
from plimsoll.adapters.hosts.sampler import counters, programs, sample
from plimsoll.domain.hosts.cluster import RUNS_AS
from plimsoll.domain.keys.host_bounds import HostActivity
from plimsoll.ports.host import Host, Job

JOB = "sampler"
SAMPLES = "host.csv"


class ProcSampler:
    """An implementation of the HostSampler port; the columns are those of `sample.COLUMNS`."""

    def start(
        self,
        host: Host,
        expires: timedelta,
        environments: frozenset[str] = frozenset(),
        database: Sequence[str] = (),
    ) -> None:
        folder = host.root / JOB
        own = [*_own(host, environments), *([f"{counters.MARK}{','.join(database)}"] if database else [])]
        argv = (*_program(host), str(folder / SAMPLES), *own)
        host.start(Job(id=JOB, argv=argv, expires=expires, cwd=folder))

    def look(self, host: Host, environments: frozenset[str] = frozenset()) -> HostActivity:
        argv = (*_program(host), "3", *_own(host, environments))  # seconds
        return activity(host.run(argv, timeout=timedelta(minutes=1)).stdout)

    def files(self, host: Host) -> Sequence[PurePosixPath]:
        return [path for path in host.files(host.root / JOB) if path.name == SAMPLES]


def _own(host: Host, environments: frozenset[str]) -> list[str]:
    """Return the environments, and the user as whom a database runs that somebody else has on that host."""
    user = host.info.facts.get(RUNS_AS, "")
    return [*sorted(environments), *([f"{counters.USER}{user}"] if user else [])]


def _program(host: Host) -> tuple[str, ...]:
    """Write the program to the host, and return how it is called."""
    folder, entry = host.root / JOB / "program", "__main__.py"
    # The modules import one another by their full names, so their paths stay the same below the program's folder
    for module in (counters, programs, sample):
        path = folder / PurePosixPath(*module.__name__.split(".")).with_suffix(".py")
        host.write(path, getsource(module))
    host.write(folder / entry, f"import sys\n\nfrom {sample.__name__} import main\n\nmain(*sys.argv[1:])\n")
    return (*PYTHON, str(folder))


def activity(text: str) -> HostActivity:
    """Return the figures of one line with its head."""
    row = next(csv.DictReader(text.splitlines()))
    named = [entry.rpartition("=") for entry in row["others_top"].split(";") if entry]
    return HostActivity(
        foreign_cpu=_number(row["cpu_others"]),
        steal=float(row["cpu_steal"]),
        throttled=_number(row["cpu_throttled"]),
        memory_available_bytes=float(row["memory_available_bytes"]),
        programs=tuple((name, float(share)) for name, _, share in named),
    )


def _number(text: str) -> float | None:
    return float(text) if text else None
