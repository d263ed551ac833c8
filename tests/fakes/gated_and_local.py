"""The adapters of `gated`, and beside them the real ones of this machine: a definition names which it wants.

The nodes of this machine do not give way.

`toolkit` is a factory for `PLIMSOLL_TOOLKIT`.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import PurePosixPath

from tests.fakes import gated
from tests.fakes.hosts import FolderHost
from tests.support.nodes import even

from plimsoll.domain.keys.host_bounds import HostActivity
from plimsoll.ports.host import Host, HostSampler
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings


def toolkit(settings: Settings) -> Toolkit:
    """Make a toolkit with gates in its instant adapters, and none in its real ones."""
    instant, real = gated.toolkit(settings), even.toolkit(settings.model_copy(update={"work": settings.work / "real"}))
    return replace(
        instant,
        providers={**instant.providers, "local": real.providers["local"]},
        products={**instant.products, **real.products},
        load_generators={**instant.load_generators, **real.load_generators},
        sampler=SamplerOfRealHosts(real.sampler),
    )


class SamplerOfRealHosts:
    """Folders have no figures to sample."""

    def __init__(self, sampler: HostSampler) -> None:
        self._sampler = sampler

    def start(
        self,
        host: Host,
        expires: timedelta,
        environments: frozenset[str] = frozenset(),
        database: Sequence[str] = (),
    ) -> None:
        """Start as the real sampler."""
        if not isinstance(host, FolderHost):
            self._sampler.start(host, expires, environments, database)

    def look(self, host: Host, environments: frozenset[str] = frozenset()) -> HostActivity | None:
        """Look as the real sampler."""
        return None if isinstance(host, FolderHost) else self._sampler.look(host, environments)

    def files(self, host: Host) -> Sequence[PurePosixPath]:
        """Return the files of the real sampler."""
        return () if isinstance(host, FolderHost) else self._sampler.files(host)
