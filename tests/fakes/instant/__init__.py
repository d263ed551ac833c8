"""An instant provider, database and load generator: whole campaigns without processes, hosts or waiting.

They keep everything in files below the settings' `work` folder, so that many processes can share them, and fail where
they are told to. `toolkit` is a factory for `PLIMSOLL_TOOLKIT`.
"""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import PurePosixPath

from tests.fakes.instant.faults import INSTANT, Faults
from tests.fakes.instant.load_generator import InstantLoadGenerator
from tests.fakes.instant.product import InstantProduct
from tests.fakes.instant.provider import InstantProvider

from plimsoll.adapters.clock import SystemClock
from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.ports.host import Host
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings

__all__ = ["INSTANT", "Faults", "InstantLoadGenerator", "InstantProduct", "InstantProvider", "NoSampler", "toolkit"]


def toolkit(settings: Settings) -> Toolkit:
    """Return everything instant, the store real."""
    faults = Faults(settings.work / "faults")
    return Toolkit(
        store=ObjectStore(settings.store),
        clock=SystemClock(),
        providers={INSTANT: InstantProvider(settings.work, faults)},
        products={INSTANT: InstantProduct(faults)},
        load_generators={INSTANT: InstantLoadGenerator(faults)},
        sampler=NoSampler(),
    )


class NoSampler:
    """Samples nothing."""

    def start(
        self,
        host: Host,
        expires: timedelta,
        environments: frozenset[str] = frozenset(),
        database: Sequence[str] = (),
    ) -> None:
        """Do nothing."""

    def look(self, host: Host, environments: frozenset[str] = frozenset()) -> None:
        """Return no figures."""

    def files(self, host: Host) -> Sequence[PurePosixPath]:
        """Return no files."""
        return ()
