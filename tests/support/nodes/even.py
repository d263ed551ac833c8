"""Nodes of this machine that do not give way, for tests that measure nothing and run beside others.

As shipped, such nodes get processor time when nobody else wants it: beside other tests they might never be up.
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
    """Clusters of this machine whose nodes share the processors evenly with everybody."""

    def host(self, cluster: Cluster, info: HostInfo, environment: str = "") -> LocalHost:
        """The same host, whose jobs are as important as all others."""
        facts = {name: value for name, value in info.facts.items() if name != NICENESS}
        return super().host(cluster, info.model_copy(update={"facts": facts}), environment)


def toolkit(settings: Settings) -> Toolkit:
    """A factory for `PLIMSOLL_TOOLKIT`: what is shipped, with such nodes."""
    shipped = local_toolkit(settings)
    return replace(shipped, providers={**shipped.providers, "local": EvenProvider(settings.work, shipped.clock)})


EVEN_NODES = {
    "PLIMSOLL_TOOLKIT": f"{toolkit.__module__}:{toolkit.__name__}",
    "PYTHONPATH": SOURCES,
}
"""The environment of processes that are to have such nodes."""
