"""Numbered places for test clouds on one machine: each has a network, a bridge and a folder of its own.

A place is held by a lock on a file, which the kernel releases when the process that holds it ends, however it ends. Who
takes a place, or looks for one, first removes what an earlier holder left there.
"""

import fcntl
import ipaddress
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

# Reserved for benchmarks between networks (RFC 2544): on no network that a machine could be part of.
_RANGE = ipaddress.ip_network("198.18.0.0/15")
_PREFIX = 20
MARK = "PLIMSOLL_TEST_CLOUD"
"""The environment variable that every process of a host carries: its cloud's folder."""


@dataclass(frozen=True)
class Slot:
    """A place that is held."""

    number: int
    folder: Path

    @property
    def network(self) -> ipaddress.IPv4Network:
        """Return the addresses of its hosts."""
        base = int(_RANGE.network_address) + (self.number << (32 - _PREFIX))
        return ipaddress.IPv4Network((base, _PREFIX))

    @property
    def bridge(self) -> str:
        """Return the name of the bridge; links of its hosts start with the same letters."""
        return f"plc{self.number}br"


def _base() -> Path:
    folder = Path(tempfile.gettempdir(), f"plimsoll-test-clouds-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


@contextmanager
def held() -> Iterator[Slot]:
    """Provide a free place, swept before and after; all free places that were left in a mess are swept too."""
    lock, slot = _claim()
    try:
        yield slot
    finally:
        sweep(slot)
        os.close(lock)


def _claim() -> tuple[int, Slot]:
    claimed: tuple[int, Slot] | None = None
    for number in range(1, 2 ** (_PREFIX - _RANGE.prefixlen)):
        slot = Slot(number, _base() / str(number))
        if claimed is not None and not slot.folder.exists():
            continue
        lock = _lock(slot)
        if lock is None:
            continue
        sweep(slot)
        if claimed is None:
            claimed = lock, slot
        else:
            os.close(lock)
    if claimed is None:
        raise RuntimeError("every place for a test cloud is taken on this machine; end some of them")
    claimed[1].folder.mkdir(mode=0o700)
    return claimed


def _lock(slot: Slot) -> int | None:
    lock = os.open(slot.folder.with_suffix(".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def sweep(slot: Slot) -> None:
    """Remove processes, links and folder of that place."""
    for process in processes(slot.folder):
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(processes(slot.folder), timeout=60)
    for link in links(slot):
        subprocess.run(["ip", "link", "del", link], check=False, capture_output=True)
    shutil.rmtree(slot.folder, ignore_errors=False) if slot.folder.exists() else None


def processes(folder: Path) -> list[psutil.Process]:
    """Return every process of hosts below that folder: those that carry the mark or name the folder, and what they
    started.
    """
    found: dict[int, psutil.Process] = {}
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if _belongs(process, str(folder)):
                found |= {one.pid: one for one in (process, *process.children(recursive=True))}
    return list(found.values())


def _belongs(process: psutil.Process, folder: str) -> bool:
    """Recognise sshd by its title, which names its configuration: sshd writes it over its environment."""
    if process.name() == "sshd":
        return f"{folder}/" in " ".join(process.cmdline())
    return f"{process.environ().get(MARK, '')}/".startswith(f"{folder}/")


def links(slot: Slot) -> list[str]:
    """Return the bridge and what is left of links to hosts."""
    names = [link.name for link in Path("/sys/class/net").iterdir()]
    prefix = slot.bridge.removesuffix("br")
    return [name for name in names if name == slot.bridge or name.startswith(f"{prefix}h")]
