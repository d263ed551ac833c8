"""Find running processes of clusters by the marks in their environment."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from plimsoll.adapters.process_tags import SUBNET, Marks, read_marks


@dataclass(frozen=True)
class Marked:
    """A living process of a cluster."""

    process: psutil.Process
    marks: Marks


def marked(work: Path) -> Iterator[Marked]:
    """Every living process of any cluster of that work folder, except this one. Zombies have no environment."""
    for process, environment in _environments():
        marks = read_marks(environment, work)
        if marks is not None and process.pid != os.getpid():
            yield Marked(process, marks)


def subnets_in_use() -> frozenset[str]:
    """Subnets of every marked process of this machine, of any user, as far as they are readable."""
    return frozenset(environment[SUBNET] for _, environment in _environments() if SUBNET in environment)


def _environments() -> Iterator[tuple[psutil.Process, Mapping[str, str]]]:
    for process in psutil.process_iter():
        try:
            yield process, process.environ()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
