"""Errors that keep a host that answers from being used, and errors of hosts as a provider reports them."""

from collections.abc import Iterator
from contextlib import contextmanager

from plimsoll.domain.errors import HostError, HostsLost, ProviderError, SecretError, Unreachable


class WrongHostKey(HostError):
    """Another host than the expected one answers. Unlike `Unreachable`, this is permanent."""


class KeyRefused(HostError):
    """The host does not allow this user to log in with this key. Unlike `Unreachable`, this is permanent."""


@contextmanager
def explained() -> Iterator[None]:
    """Raise errors of hosts inside the block as those of their provider."""
    try:
        yield
    except (HostError, SecretError) as error:
        raise as_provider_error(error) from error


def as_provider_error(error: HostError | SecretError) -> ProviderError:
    """Return the provider's error for a host that can't be used: HostsLost where it does not answer."""
    kind = HostsLost if isinstance(error, Unreachable) else ProviderError
    return kind(error.what, where=error.where, mend=error.mend)
