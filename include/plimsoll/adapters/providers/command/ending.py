"""End a cluster's hosts, and believe it only once they are listed no more."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain, repeat

from plimsoll.adapters.providers.command.cloud import Cloud, ProgramError
from plimsoll.adapters.providers.command.contract import AnsweredHost
from plimsoll.adapters.providers.command.launched import Launched
from plimsoll.domain.text.errors import ProviderError
from plimsoll.ports.clock import Clock
from plimsoll.ports.log import Log

PATIENCE = timedelta(minutes=20)
"""How long hosts may take to be listed no more."""
_LOOKS = 2
"""How many lists, one after the other, must show nothing: one may lack a host."""


def poll_pauses() -> Iterator[float]:
    """Yield the seconds between two looks at the list, without end."""
    return chain((2.0, 3.0, 5.0), repeat(10.0))


@dataclass(frozen=True)
class Ender:
    """The end of one cluster in one cloud. `clean`: removes what it has on these hosts, as far as they answer."""

    cloud: Cloud
    clock: Clock
    log: Log
    launched: Launched
    clean: Callable[[tuple[AnsweredHost, ...]], None]

    def end(self) -> None:
        """End everything of the cluster. Raises ProviderError where something lives on, or that can't be told.

        A launch whose answer was lost may still bring hosts for a while, which are waited for.
        """
        began, empty, has_ended = self.clock.now(), 0, False
        until = max(began, self.launched.unknown_until() or began)
        shown = self._cleaned()
        trouble: ProviderError | None = None
        for pause in poll_pauses():
            try:
                # Asked again for hosts that show later, as those of a launch whose answer was lost may
                if shown or not has_ended:
                    recorded = [host.identity for host in self.launched.living]
                    self.cloud.end(self.launched.id, [host.id for host in shown] or recorded)
                    has_ended = True
                shown = self.cloud.of_cluster(self.launched.id)
                self.launched.discovered(shown)
                empty = 0 if shown else empty + 1
            except ProviderError as error:
                if not (isinstance(error, ProgramError) and error.passes):
                    raise
                trouble, empty = error, 0
            if empty >= _LOOKS and self.clock.now() >= until:
                self.launched.ended(self.clock.now())
                return
            if self.clock.now() > until + PATIENCE:
                raise trouble or self._unended(shown)
            self.clock.sleep(pause)

    def _cleaned(self) -> tuple[AnsweredHost, ...]:
        """Return the hosts that are listed. Nothing is left on them, as they may be somebody else's next.

        Their end does not depend on it.
        """
        shown: tuple[AnsweredHost, ...] = ()
        try:
            shown = self.cloud.of_cluster(self.launched.id)
            self.launched.discovered(shown)
            self.clean(shown)
        except ProviderError as error:
            self.log(f"{self.launched.id}: its hosts could not be cleaned before their end: {error.headline}")
        return shown

    def _unended(self, shown: tuple[AnsweredHost, ...]) -> ProviderError:
        names = ", ".join(map(str, shown))
        what = f"`end` has ended well, and after {PATIENCE} `list` still shows {names}"
        mend = f"see what {self.cloud.options.end[0]} did, end these hosts by hand, then destroy the cluster again"
        return ProviderError(what, where=str(self.launched.id), mend=mend)
