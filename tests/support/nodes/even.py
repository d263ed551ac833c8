"""Local nodes with the usual priority, for tests that measure nothing and run at the same time as others.

As shipped, local nodes have niceness 10 and give way to other processes. While other tests run, they might not start in
time. Nodes and load generators live for seconds here. So their JVMs do without what pays later: optimised code, a heap
that is touched in advance, and verified classes.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.support.processes import SOURCES

from plimsoll.adapters.hosts.processes import process_tags_of
from plimsoll.adapters.providers.local import LocalProvider
from plimsoll.adapters.providers.local.host import NICENESS, LocalHost
from plimsoll.bootstrap import full_toolkit
from plimsoll.domain.hosts.cluster import Cluster, HostInfo
from plimsoll.ports.host import Job
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings

SHORT_LIVED = (
    "-XX:TieredStopAtLevel=1",
    "-XX:-AlwaysPreTouch",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
)
"""Flags of JVMs that live for seconds. The JVM takes the later one of two flags."""
_CLASS_PATH = "-cp"


class EvenHost(LocalHost):
    """A host whose JVMs have the flags of short-lived ones after their own."""

    def start(self, job: Job) -> None:
        """Start the job detached, or attach to it."""
        super().start(replace(job, argv=short_lived(job.argv)))


def short_lived(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the command, with the flags if it starts a JVM with a class path."""
    if not argv[0].endswith("/java") or _CLASS_PATH not in argv:
        return tuple(argv)
    place = argv.index(_CLASS_PATH)
    return (*argv[:place], *SHORT_LIVED, *argv[place:])


class EvenProvider(LocalProvider):
    """Provides local clusters whose nodes share the processors evenly with other processes."""

    def host(self, cluster: Cluster, info: HostInfo, environment: str = "") -> LocalHost:
        """Return the host, whose jobs have the usual priority."""
        facts = {name: value for name, value in info.facts.items() if name != NICENESS}
        host = super().host(cluster, info.model_copy(update={"facts": facts}), environment)
        return EvenHost(host.info, Path(host.root), process_tags_of(cluster, host.info, self.work, environment))


def toolkit(settings: Settings) -> Toolkit:
    """Return a factory for `PLIMSOLL_TOOLKIT`: the shipped toolkit with such nodes."""
    shipped = full_toolkit(settings)
    return replace(shipped, providers={**shipped.providers, "local": EvenProvider(settings.work, shipped.clock)})


EVEN_NODES = {
    "PLIMSOLL_TOOLKIT": f"{toolkit.__module__}:{toolkit.__name__}",
    "PYTHONPATH": SOURCES,
}
"""The environment of processes that use such nodes."""
