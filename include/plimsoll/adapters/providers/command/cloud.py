"""A cloud as its three programs show it: each call with its input, its exit code in words, and its answer checked."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from plimsoll.adapters.providers.command import contract
from plimsoll.adapters.providers.command.options import CommandOptions
from plimsoll.adapters.providers.command.programs import Programs
from plimsoll.domain.hosts.cluster import ClusterId
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import ProviderError
from plimsoll.domain.text.wording import shortened

NO_ROOM, AGAIN, REFUSED = 69, 75, 77
"""Exit codes, as in sysexits.h: EX_UNAVAILABLE, EX_TEMPFAIL and EX_NOPERM."""
_MOST_SHOWN = 1500


class ProgramError(ProviderError):
    """A program that failed, or that did not keep to the contract. `passes`: whether a later try may succeed."""

    def __init__(self, what: str, *, where: str = "", mend: str = "", passes: bool = False) -> None:
        super().__init__(what, where=where, mend=mend)
        self.passes = passes


@dataclass(frozen=True)
class Login:
    """Who logs in to hosts: the public key, and the user where the connection has one."""

    public_key: str
    user: str


@dataclass(frozen=True)
class Cloud:
    """The programs of one definition's options, for the hosts of one installation, `store`."""

    programs: Programs
    options: CommandOptions
    store: str

    @property
    def place(self) -> Hashable:
        """Return what tells one cloud from another: how its hosts are listed."""
        return self.options.list, str(self.options.options)

    def launch(self, tags: contract.Tags, login: Login, ports: tuple[int, ...]) -> tuple[contract.AnsweredHost, ...]:
        """Make the hosts that these tags name. Raises ProviderError, also where others than these are printed."""
        stdin = contract.LaunchInput(
            token=tags.token,
            tags=tags.as_text(),
            hosts=tuple(contract.RequestedHost(name=name, role=contract.role_of(name)) for name in tags.names),
            public_key=login.public_key,
            user=login.user,
            ports=ports,
            expires_at=tags.expires,
            options=self.options.options,
        )
        printed = self._run(self.options.launch, stdin, self.options.launch_within)
        try:
            hosts = contract.parse_hosts(printed, self.store)
            contract.require_asked(hosts, tags)
        except contract.Garbage as error:
            raise _broken(self.options.launch, error) from error
        return hosts

    def living(self) -> tuple[contract.AnsweredHost, ...]:
        """Return all hosts of the installation. Raises ProviderError where that can't be told."""
        stdin = contract.ListInput(tags={f"{contract.PREFIX}store": self.store}, options=self.options.options)
        printed = self._run(self.options.list, stdin, self.options.answer_within)
        try:
            return contract.parse_hosts(printed, self.store)
        except contract.Garbage as error:
            raise _broken(self.options.list, error) from error

    def of_cluster(self, cluster_id: ClusterId) -> tuple[contract.AnsweredHost, ...]:
        """Return the hosts of one cluster, the nodes first, in the order of their numbers."""
        own = [host for host in self.living() if host.owned.id == cluster_id]
        return tuple(sorted(own, key=lambda host: (host.role == "load", len(host.name), host.name)))

    def end(self, cluster_id: ClusterId, ids: Sequence[str]) -> None:
        """Have the cluster's hosts ended. Raises ProviderError. Whether they have, `living` tells."""
        tags = {f"{contract.PREFIX}store": self.store, f"{contract.PREFIX}cluster": str(cluster_id)}
        stdin = contract.EndInput(tags=tags, ids=tuple(dict.fromkeys(ids)), options=self.options.options)
        self._run(self.options.end, stdin, self.options.answer_within)

    def _run(self, argv: Sequence[str], stdin: Model, limit: timedelta) -> bytes:
        ended = self.programs.run(argv, stdin.model_dump_json().encode(), limit)
        if ended.exit_code == 0:
            return ended.printed
        reason = shortened(ended.words[-_MOST_SHOWN:]) or "it gave no reason on its error output"
        how = f"failed with exit code {ended.exit_code}"
        if ended.exit_code < 0:
            how = f"was killed by signal {-ended.exit_code}"
        means, mend = _MEANING.get(ended.exit_code, (how, "see what it says"))
        passes = ended.exit_code in (NO_ROOM, AGAIN)
        raise ProgramError(f"{argv[0]} {means}: {reason}", where=" ".join(argv), mend=mend, passes=passes)


_MEANING = {
    NO_ROOM: ("has no room", "if it is `launch`, run fewer cells at once, or let it look in further places"),
    AGAIN: ("could not do it now", "try again later"),
    REFUSED: ("refuses it for good", "do what it says, or change the definition's provider.options"),
}


def _broken(argv: Sequence[str], error: contract.Garbage) -> ProgramError:
    return ProgramError(f"{argv[0]}: {error}", where=" ".join(argv), mend=error.mend)
