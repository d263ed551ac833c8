"""Which campaigns are at rest: no account of theirs is open, and they have left nothing in a database of somebody else.

Marks below one folder say so. Whoever looks for what was left asks, with one listing of them, after those campaigns
alone that have begun something since: the work grows with what changed, and not with what is stored. The reaper makes
the marks; whoever begins something removes them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import PurePosixPath

from plimsoll.domain.keys.system import ProviderChoice
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import campaign_exists, campaign_folders


def digest_of(choice: ProviderChoice) -> str:
    """Return what names a choice of a provider in keys, so that equal ones are read once."""
    return sha256(layout.AT_REST.content(choice)).hexdigest()[:32]


def marks(store: ReadableStore) -> dict[str, str]:
    """Return the campaigns at rest, each with the key of its mark. The mark holds the provider that it chose."""
    return {PurePosixPath(key).parts[-2]: key for key in store.keys(layout.AT_REST.folder(""))}


def stirred_campaigns(store: ReadableStore) -> tuple[str, ...]:
    """Return the campaigns that are not known to be at rest."""
    resting = marks(store)
    return tuple(name for name in campaign_folders(store) if name not in resting and campaign_exists(store, name))


def mark(store: ResultStore, campaign_id: str, choice: ProviderChoice) -> None:
    """Note that the campaign, whose definition chooses that provider, is at rest."""
    layout.AT_REST.write(store, "", choice, campaign_id, digest_of(choice))


def unmark(store: ResultStore, campaign_id: str) -> None:
    """Note that it is not, or not any more."""
    store.delete(layout.AT_REST.folder("", campaign_id))


@contextmanager
def stirred(store: ResultStore, campaign_id: str) -> Iterator[None]:
    """Let something of the campaign be begun that somebody may have to look for.

    The mark goes before, for one who dies in between; and after, since one who makes marks may have looked before.
    """
    unmark(store, campaign_id)
    yield
    unmark(store, campaign_id)
