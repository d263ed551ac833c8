"""Processors of its own for each node: a control group of the kernel's, which gets so much of this machine's time and
never more. A node that is gone leaves its share to nobody, as on hosts of their own.

Only root may make such groups, where the machine lets it. The share is a bound from above: that a node really gets it
takes a machine that is not wholly busy.
"""

import errno
import os
import uuid
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from plimsoll.adapters.hosts.sampler.counters import OWN_GROUP
from plimsoll.domain.hosts.cluster import PROCESSORS, Cluster

# The load generator measures: it must not wait for the nodes' CPU, as it would not on a host of its own.
NODE_NICENESS = 10
LEAST = 0.05
"""The fewest processors that a group may have: the kernel shares out no less than 1 ms."""
# Short, so that a node which has used up its part waits for few milliseconds until the next one.
_PERIOD_US = 20_000
# The kernel's own scale: each step of niceness is a factor of 1.25
_STANDARD_SHARES, _SHARES_PER_NICENESS = 1024, 1.25
_MEMBERS = "cgroup.procs"
_NOT_HERE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT}
"""The errors of a machine on which this user can't make groups, now or later."""


class Groups:
    """The groups of one user's clusters, named by the nodes' addresses. `claims` is where these agree on subnets.

    `root` is where control groups are mounted.
    """

    def __init__(self, claims: Path, root: Path = Path("/sys/fs/cgroup")) -> None:
        self._prefix = f"{OWN_GROUP}{sha256(str(claims).encode()).hexdigest()[:8]}-"
        self._is_first_version = not (root / "cgroup.controllers").exists()
        self._parent = root / "cpu" if self._is_first_version else root

    def obstacle(self) -> str:
        """Tell why this user can't make groups here; empty where that is possible."""
        name = f"try-{uuid.uuid4().hex}"
        try:
            self._make(name, 1)
            self._of(name).rmdir()
        except OSError as error:
            return str(error)
        return ""

    def granted(self, cluster: Cluster, processors: float | None) -> Cluster:
        """Return the cluster with groups of its nodes, if that is asked for and can be had here; else as it is.

        All its nodes are alike: where one can't have processors of its own, they share all, as `plan` said.
        """
        if processors is None:
            return cluster
        own = {PROCESSORS: f"{processors:g}"}
        hosts = (host.model_copy(update={"facts": {**host.facts, **own}}) for host in cluster.nodes)
        granted = cluster.model_copy(update={"hosts": (*hosts, *cluster.load_hosts)})
        try:
            self.make(granted)
        except OSError as error:
            if error.errno not in _NOT_HERE:
                raise
            return cluster
        return granted

    def make(self, cluster: Cluster) -> None:
        """Make the groups of hosts that have processors of their own, as far as they are missing. Raises OSError."""
        for host in cluster.hosts:
            if PROCESSORS in host.facts:
                self._make(host.address, float(host.facts[PROCESSORS]))

    def _make(self, address: str, processors: float) -> None:
        group = self._of(address)
        # The kernel's root group alone has no such file. Any other group, such as a container's, may have processes or
        # limited groups below it, but not both.
        if (self._parent / "cgroup.type").exists():
            raise PermissionError(errno.EPERM, "a container's control groups can't be divided", str(self._parent))
        group.mkdir(exist_ok=True)
        try:
            # The kernel makes `cpu.max` once the group above hands its `cpu` controller down
            if not self._is_first_version and not (group / "cpu.max").exists():
                _write(self._parent / "cgroup.subtree_control", "+cpu")
            for name, value in limits(processors, is_first_version=self._is_first_version).items():
                _write(group / name, value)
        except OSError:
            with suppress(OSError):
                group.rmdir()
            raise

    def members(self, address: str) -> Path:
        """Return the file of that node's group, into which the processes are written that belong to it."""
        return self._of(address) / _MEMBERS

    def remove(self, subnets: Collection[str]) -> list[str]:
        """Remove the groups of nodes in these subnets. Returns a sentence on each that could not be removed."""
        obstacles = []
        for group, subnet in self._all():
            if subnet in subnets:
                try:
                    group.rmdir()
                except FileNotFoundError:  # someone else removes the same
                    continue
                except OSError as error:
                    obstacles.append(str(error))
        return obstacles

    def remove_others(self, subnets: Collection[str]) -> None:
        """Remove the groups of all other subnets, whose clusters are gone, unless processes are in them."""
        self.remove({subnet for _, subnet in self._all()} - set(subnets))

    def _of(self, address: str) -> Path:
        return self._parent / f"{self._prefix}{address}"

    def _all(self) -> Iterator[tuple[Path, str]]:
        for group in self._parent.glob(f"{self._prefix}*"):
            yield group, group.name.removeprefix(self._prefix).rpartition(".")[0]


def limits(processors: float, *, is_first_version: bool) -> Mapping[str, str]:
    """Return what is written to a group's files, in their order, in the kernel's first version of groups or its second.

    As with niceness, which counts only within a group, the load generator goes before nodes.
    """
    quota_us = round(processors * _PERIOD_US)
    if is_first_version:
        shares = round(_STANDARD_SHARES / _SHARES_PER_NICENESS**NODE_NICENESS)
        # The quota comes last, as it must fit the period that is there when it is written
        return {"cpu.shares": f"{shares}", "cpu.cfs_period_us": f"{_PERIOD_US}", "cpu.cfs_quota_us": f"{quota_us}"}
    return {"cpu.weight.nice": f"{NODE_NICENESS}", "cpu.max": f"{quota_us} {_PERIOD_US}"}


def join(members: Path | None, pid: int) -> None:
    """Put a process, and what it starts from now on, into a group; None is no group. It may have ended meanwhile."""
    if members is not None:
        with suppress(ProcessLookupError):
            _write(members, str(pid))


def _write(file: Path, text: str) -> None:
    # Never makes a file: where the kernel has none of that name, the group can't do what is asked.
    handle = os.open(file, os.O_WRONLY)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)
