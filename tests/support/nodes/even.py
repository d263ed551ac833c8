"""Local nodes with the usual priority, for tests that measure nothing and run at the same time as others.

As shipped, local nodes get processor time only when no other process wants it. While other tests run, they might never
start.
"""

from dataclasses import replace

from tests.support.processes import SOURCES

from plimsoll.adapters.local import LocalProvider
from plimsoll.adapters.local.host import NICENESS, LocalHost
from plimsoll.bootstrap import local_toolkit
from plimsoll.domain.cluster import Cluster, HostInfo
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings


class EvenProvider(LocalProvider):
    """Provides local clusters whose nodes share the processors evenly with other processes."""

    def host(self, cluster: Cluster, info: HostInfo, environment: str = "") -> LocalHost:
        """The host, whose jobs have the usual priority."""
        facts = {name: value for name, value in info.facts.items() if name != NICENESS}
        return super().host(cluster, info.model_copy(update={"facts": facts}), environment)


def toolkit(settings: Settings) -> Toolkit:
    """A factory for `PLIMSOLL_TOOLKIT`: the shipped toolkit with such nodes."""
    shipped = local_toolkit(settings)
    return replace(shipped, providers={**shipped.providers, "local": EvenProvider(settings.work, shipped.clock)})


EVEN_NODES = {
    "PLIMSOLL_TOOLKIT": f"{toolkit.__module__}:{toolkit.__name__}",
    "PYTHONPATH": SOURCES,
}
"""The environment of processes that use such nodes."""
