"""Hosts of the test cloud that are folders, and that fall silent when they are told to."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath

from tests.cloud.cloud import Cloud
from tests.fakes.hosts import FolderHost

from plimsoll.adapters.providers.ec2 import Connect
from plimsoll.adapters.providers.ec2.readiness import SharedHost
from plimsoll.adapters.providers.ssh import Target
from plimsoll.domain.hosts.cluster import ClusterId, HostInfo
from plimsoll.domain.hosts.fingerprint import HostFacts
from plimsoll.domain.text.errors import Unreachable


class FickleHost(FolderHost):
    """A host that may fall silent: frozen, cut off, dead, or not booted at all."""

    def __init__(self, folder: Path, info: HostInfo, is_silent: Callable[[], bool]) -> None:
        super().__init__(folder, info)
        self._is_silent = is_silent

    def write(self, path: PurePosixPath, content: str) -> None:
        self._answer()
        super().write(path, content)

    def read_tail(self, path: PurePosixPath, *, max_bytes: int) -> str:
        self._answer()
        return super().read_tail(path, max_bytes=max_bytes)

    def files(self, folder: PurePosixPath) -> tuple[PurePosixPath, ...]:
        self._answer()
        return super().files(folder)

    def fetch(self, path: PurePosixPath, destination: Path) -> None:
        self._answer()
        super().fetch(path, destination)

    def facts(self) -> HostFacts:
        self._answer()
        return super().facts()

    def within(self, folder: PurePosixPath, tags: Mapping[str, str]) -> "FickleHost":
        """Return a part of the host that is as silent as the host."""
        return FickleHost(self._folder / folder, self.info, self._is_silent)

    def clear(self, folder: PurePosixPath, cluster: str, keep: frozenset[str]) -> Sequence[str]:
        self._answer()
        return super().clear(folder, cluster, keep)

    def _answer(self) -> None:
        if self._is_silent():
            raise Unreachable("can't be reached", where=f"host {self.info.name}")


def reached(folder: Path, cloud: Cloud, silent: Collection[str]) -> Connect:
    """Return a folder for each instance, prepared once it has booted.

    What has ended answers no more, whatever EC2 shows.
    """

    def connect(key: ClusterId, info: HostInfo, target: Target) -> SharedHost:
        instance = info.facts["instance_id"]
        place, life = folder / instance, cloud.lifecycle.lives[instance]
        FolderHost(place, info).write(PurePosixPath("prepared"), "ok\n")
        return FickleHost(place, info, lambda: instance in silent or not life.boots or life.shut_down is not None)

    return connect
