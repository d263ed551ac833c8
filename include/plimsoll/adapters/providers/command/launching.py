"""Have a cluster's hosts made, all or none, and have them ended. `list` decides what there is, also after a crash in
between: hosts have ended only once they are listed no more.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from operator import attrgetter

from plimsoll.adapters.providers.command.contract import AnsweredHost, host_names, tags_of
from plimsoll.adapters.providers.command.launched import Launched
from plimsoll.adapters.providers.command.programs import Cloud, Login, ProgramError, poll_pauses
from plimsoll.adapters.providers.requested import looks, pauses, within_ceiling
from plimsoll.domain.hosts.cluster import ClusterRequest
from plimsoll.domain.text.errors import HostsLost, PlimsollError, ProviderError
from plimsoll.ports.controller import Clock, Log

LAG = timedelta(minutes=2)
"""How far a list may lag behind a launch, and for how long a host that it lacks is looked for again."""
_identity = attrgetter("id", "name", "address", "host_key")

PATIENCE = timedelta(minutes=20)
"""How long hosts may take to be listed no more."""
_LOOKS = 2
"""How many lists, one after the other, must show nothing: one may lack a host."""


def is_whole(hosts: tuple[AnsweredHost, ...], nodes: int, load_hosts: int) -> bool:
    """Tell whether these are all hosts of such a cluster, each once."""
    return Counter(host.name for host in hosts) == Counter(host_names(nodes, load_hosts))


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
        began, empty, has_ended, is_told = self.clock.now(), 0, False, False
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
                break
            if shown and has_ended and not is_told:
                what, last = ", ".join(map(str, shown)), until + PATIENCE
                self.log(
                    f"{self.launched.id}: `end` ended well, but `list` shows {what}: waiting until {last:%H:%M} UTC"
                )
                is_told = True
            self.clock.sleep(pause)
        what = f"`end` has ended well, and after {PATIENCE} `list` still shows {', '.join(map(str, shown))}"
        mend = f"see what {self.cloud.options.end[0]} did, end these hosts by hand, then destroy the cluster again"
        raise trouble or ProviderError(what, where=str(self.launched.id), mend=mend)

    def _cleaned(self) -> tuple[AnsweredHost, ...]:
        """Clean the listed hosts, as far as that is possible, and return them: they may be somebody else's next."""
        shown: tuple[AnsweredHost, ...] = ()
        try:
            shown = self.cloud.of_cluster(self.launched.id)
            self.launched.discovered(shown)
            self.clean(shown)
        except ProviderError as error:
            self.log(f"{self.launched.id}: its hosts could not be cleaned before their end: {error.headline}")
        return shown


@dataclass(frozen=True)
class Launcher:
    cloud: Cloud
    clock: Clock
    log: Log
    request: ClusterRequest
    login: Login
    ender: Ender

    def provided(self) -> tuple[AnsweredHost, ...]:
        """Return the cluster's hosts: those that live already, else new ones.

        What is left of a cluster that is not whole is ended first. Raises HostsLost for kept hosts: another cluster
        takes their place.
        """
        hosts = self._settled()
        if is_whole(hosts, self.request.nodes, self.request.load_hosts):
            self.ender.launched.discovered(hosts)
            return hosts
        if self.request.id.is_kept and self.request.was_whole:
            names = {*host_names(self.request.nodes, self.request.load_hosts)} - {host.name for host in hosts}
            what = f"hosts are not listed any more: {', '.join(sorted(names))}"
            raise HostsLost(what, where=str(self.request.id), mend="run the cell again: it gets other hosts")
        if hosts or self.ender.launched.living:
            self.ender.end()
        return self._made()

    def _settled(self) -> tuple[AnsweredHost, ...]:
        """Return the hosts that are listed, once no earlier launch and no lagging list can change that."""
        launched, now = self.ender.launched, self.clock.now()
        until = max(launched.unknown_until() or now, now + LAG if launched.living else now)
        for pause in poll_pauses():
            hosts = self.cloud.of_cluster(self.request.id)
            is_complete = is_whole(hosts, self.request.nodes, self.request.load_hosts)
            if is_complete or self.clock.now() >= until:
                return hosts
            self.log(f"{self.request.id}: an earlier launch may still bring hosts, until {until:%H:%M:%S} UTC")
            self.clock.sleep(pause)
        raise AssertionError("looks never end")

    def _made(self) -> tuple[AnsweredHost, ...]:
        """Return new hosts. While there is no room, it is tried again, for as long as the options say."""
        deadline = within_ceiling(self.request, self.clock.now() + self.cloud.options.patience)
        for pause in pauses(str(self.request.id)):
            try:
                return self._launched_once()
            except ProgramError as error:
                if not error.passes or self.clock.now() + timedelta(seconds=pause) > deadline:
                    raise
                self.log(f"{error.headline}; next try in {pause:.0f} s, until {deadline:%H:%M:%S} UTC at most")
            self.clock.sleep(pause)
        raise AssertionError("pauses never end")

    def _launched_once(self) -> tuple[AnsweredHost, ...]:
        launched, now = self.ender.launched, self.clock.now()
        token = launched.next_token(self.cloud.store)
        tags = tags_of(self.request, self.cloud.store, token, now)
        launched.requested(tags, now)
        try:
            hosts = self.cloud.launch(tags, self.login, self.request.ports)
            launched.answered(token, hosts)
            self._require_listed(hosts)
        except PlimsollError as error:
            self._undo(token, error)
            raise
        return hosts

    def _undo(self, token: str, error: PlimsollError) -> None:
        """End what the failed launch has made, so that a next one may follow. Adds why that failed, where it does.

        What a program that was killed has asked its cloud for may still come.
        """
        if isinstance(error, ProgramError):
            self.ender.launched.over.add(token)
        try:
            self.ender.end()
        except PlimsollError as second:
            what = f"{error.what}; and what it may have made could not be ended: {second.headline}"
            raise ProviderError(what, where=error.where, mend=second.mend) from error

    def _require_listed(self, hosts: tuple[AnsweredHost, ...]) -> None:
        """Wait until the list shows exactly what was printed. Raises ProgramError where it never does."""
        identities = set(map(_identity, hosts))
        for _ in looks(self.clock, poll_pauses(), LAG):
            shown = self.cloud.of_cluster(self.request.id)
            if set(map(_identity, shown)) == identities:
                return
        what = (
            f"{self.cloud.options.launch[0]} printed {', '.join(map(str, hosts))}, and after {LAG} "
            f"{self.cloud.options.list[0]} shows {', '.join(map(str, shown)) or 'none'} of them"
        )
        mend = "let both print the same hosts, with their tags, until they are ended; see what lives, and end it"
        raise ProgramError(what, where=str(self.request.id), mend=mend)
