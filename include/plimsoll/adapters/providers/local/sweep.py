"""Find running processes of clusters by the tags in their environment."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from plimsoll.adapters.hosts.process_tags import SUBNET, ProcessTags, read_process_tags


@dataclass(frozen=True)
class TaggedProcess:
    """A living process of a cluster."""

    process: psutil.Process
    tags: ProcessTags


def tagged_processes(work: Path) -> Iterator[TaggedProcess]:
    """Yield every living process of any cluster of that work folder, except this one. Zombies have no environment.

    Those of other users, whom root could read, may say of themselves what they like.
    """
    for process, environment in _environments():
        tags = read_process_tags(environment, work)
        if tags is not None and process.pid != os.getpid() and _is_own(process.pid):
            yield TaggedProcess(process, tags)


def _is_own(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}").stat().st_uid == os.geteuid()
    except OSError:  # it has ended
        return False


def subnets_in_use() -> frozenset[str]:
    """Return subnets of every tagged process of this machine, of any user, as far as they are readable."""
    return frozenset(environment[SUBNET] for _, environment in _environments() if SUBNET in environment)


def _environments() -> Iterator[tuple[psutil.Process, Mapping[str, str]]]:
    for process in psutil.process_iter():
        try:
            yield process, process.environ()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
