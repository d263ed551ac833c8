"""What of a definition the load generator can't do, found before anything starts."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem
from plimsoll.domain.units import format_duration, parse_size
from plimsoll.ports.artefacts import ArtefactSource

WORKLOADS = ("BasicTimeSeries",)
_MOST_THREADS = 1000
_MOST_CONCURRENCY = 32_768
_LEAST_HEAP = "64M"


def problems(definition: Definition, artefacts: ArtefactSource) -> Sequence[Problem]:
    """Everything at once. Fetches nothing."""
    return [*_workload(definition), *_generator(definition), *_timing(definition), *artefacts.missing(definition)]


def _workload(definition: Definition) -> Iterator[Problem]:
    name = definition.workload.name
    if name not in WORKLOADS:
        known = ", ".join(WORKLOADS)
        yield Problem("workload.name", f"{name!r} is no workload of plimsoll-stress", f"there is: {known}")


def _generator(definition: Definition) -> Iterator[Problem]:
    generator = definition.load_generator
    limits = {"threads": (generator.threads, _MOST_THREADS), "concurrency": (generator.concurrency, _MOST_CONCURRENCY)}
    for key, (value, most) in limits.items():
        if value > most:
            yield Problem(f"load_generator.{key}", f"{value} is more than plimsoll-stress takes", f"at most {most}")
    if parse_size(generator.heap) < parse_size(_LEAST_HEAP):
        yield Problem("load_generator.heap", f"{generator.heap} is too small to run in", f"at least {_LEAST_HEAP}")


def _timing(definition: Definition) -> Iterator[Problem]:
    for key, value in (("duration", definition.timing.duration), ("warmup", definition.timing.warmup)):
        if value % timedelta(seconds=1):
            yield Problem(f"timing.{key}", f"{format_duration(value)} is no whole number of seconds", "round it")
