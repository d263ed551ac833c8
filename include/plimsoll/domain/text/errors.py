"""The error tree: every error says what happened, where, and how to mend it; and so does the result of a check of a
machine or of an Airflow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plimsoll.domain.text.wording import plural, visible


class PlimsollError(Exception):
    """Base class of every error that Plimsoll raises on purpose. `what`: a sentence about what happened; `where`: the
    file, key, host or cell; `mend`: what to do.
    """

    def __init__(self, what: str, *, where: str = "", mend: str = "") -> None:
        self.what, self.where, self.mend = what, where, mend
        super().__init__(self.text())

    @property
    def headline(self) -> str:
        """Return where and what, as far as they are given, without how to mend it."""
        return f"{self.where}: {self.what}" if self.where else self.what

    def text(self) -> str:
        return visible(f"{self.headline}\n  To mend it: {self.mend}" if self.mend else self.headline)

    # Exceptions with keyword arguments need this to cross process borders (pickle calls cls(*args)).
    def __reduce__(self) -> tuple[object, ...]:
        return BaseException.__new__, (type(self), *self.args), self.__dict__


@dataclass(frozen=True)
class Finding:
    """The result of one check, with advice where it failed."""

    name: str
    ok: bool
    found: str
    mend: str = ""
    is_note: bool = False
    """Whether it is worth a note only, since campaigns can run all the same."""


def reason_of(error: Exception) -> str:
    """Return the message, with the kind of an error that Plimsoll did not raise: a KeyError's message is only a key."""
    return str(error) if isinstance(error, PlimsollError) else f"{type(error).__name__}: {error}"


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a definition or a machine, found before anything starts."""

    where: str
    what: str
    mend: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" + (f" ({self.mend})" if self.mend else "")


class Refused(PlimsollError):
    """A plan or a definition that can't run. The error carries every problem found, not only the first."""

    def __init__(self, problems: Sequence[Problem], *, where: str = "") -> None:
        self.problems = tuple(problems)
        lines = "".join(f"\n  - {problem}" for problem in self.problems)
        super().__init__(f"refused, {plural(len(self.problems), 'problem')}:{lines}", where=where)


class DefinitionError(Refused):
    """A definition file that is not valid: unknown keys, wrong values, contradictions."""


class NotFound(PlimsollError):
    """The store does not hold a campaign, cell, attempt or file."""


class StoreError(PlimsollError):
    """The result store can't be read or written."""


class DamagedRecord(StoreError):
    """A file in the store that can't be understood. The store itself answers, and a later try finds the same file."""


class ProviderError(PlimsollError):
    """Hosts could not be provided, found or destroyed."""


class HostsLost(ProviderError):
    """Hosts of a cluster do not answer, or are unfit, and no others can take their place in it."""


class CloudOutOfReach(ProviderError):
    """A service does not answer: DNS fails, the network is down, or the service is. A later try may succeed."""


class SecretError(PlimsollError):
    """A connection does not give the key or credential that is needed. The message never contains the secret."""


class HostError(PlimsollError):
    """A command, job or file on a host failed."""


class Unreachable(HostError):
    """A host does not accept a connection: it is down, booting, frozen or cut off, or nothing listens on the port."""


class DeployError(PlimsollError):
    """A database did not start as defined. `what` contains its status and the last lines of its log."""


class UnfitHosts(DeployError):
    """Hosts do not reach what a definition asks of them; `reasons` by the name of the host within its cluster."""

    def __init__(self, reasons: Mapping[str, str], *, where: str = "", mend: str = "") -> None:
        super().__init__("; ".join(reasons.values()), where=where, mend=mend)
        self.reasons = dict(reasons)


class LoadError(PlimsollError):
    """The load generator did not start, died, or did not complete its run."""


class ActionError(PlimsollError):
    """An action on a running cluster failed, and waiting does not mend that."""


LASTS = "another run of the cell would end alike"
"""The words in the reason of an attempt whose cell does not run again by itself: a person must change something."""

OF_HOSTS = (HostError, DeployError, LoadError)
"""The errors that adapters raise about a host and about the programs there."""


class ArtefactError(PlimsollError):
    """A JDK, database or load generator could not be resolved, verified or built."""


class UntrustedServer(ArtefactError):
    """A server's certificate is refused. Behind the same proxy, so would be whatever else is downloaded."""


class LogError(PlimsollError):
    """A histogram log or GC log can't be read, or its content can't be judged."""


class BundleError(PlimsollError):
    """A bundle is damaged, unsafe to read, or of a newer format."""


class GateClosed(PlimsollError):
    """The campaign's data is not fit to publish. The message names the cells to run again."""
