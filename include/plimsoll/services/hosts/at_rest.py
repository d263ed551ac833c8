"""What attempts may have left in a database of somebody else, and which campaigns are at rest: no account of theirs is
open, and they have left nothing there.

For each attempt there is a file until what it made in such a database is destroyed. Whoever looks for clusters that
were left logs in only where there is one.

Marks below one folder say which campaigns are at rest. Whoever looks for what was left asks, with one listing of them,
after those campaigns alone that have begun something since: the work grows with what changed, and not with what is
stored. The reaper makes the marks; whoever begins something removes them.

A mark has two files with the same token. The first is made before the last look at the campaign, the second after it.
Whoever begins something in between removes the first one, and the second alone counts for nothing; nor does the first
alone, of a reaper that died.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import PurePosixPath
from uuid import uuid4

from plimsoll.domain.hosts.cluster import ClusterId, SetUp
from plimsoll.domain.keys.system import ProviderChoice
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import StoredCampaign
from plimsoll.services.store.listing import campaign_exists, campaign_folders

LOOKED_AT_AGAIN = timedelta(days=1)
"""The age from which a mark is looked at again: an older Plimsoll on the same store removes none."""
AT_A_TIME = 20
"""How many such marks a pass looks at, so that its work has a bound."""


def digest_of(choice: ProviderChoice) -> str:
    """Return what names a choice of a provider in keys, so that equal ones are read once."""
    return sha256(layout.AT_REST.content(choice)).hexdigest()[:32]


def marks(store: ReadableStore) -> dict[str, str]:
    """Return the campaigns at rest, each with the key of its mark. The mark holds the provider that it chose."""
    return _whole(store.keys(layout.AT_REST.folder("")))


def _whole(keys: Iterator[str]) -> dict[str, str]:
    paths = [PurePosixPath(key) for key in keys]
    looks = {(path.parent.name, path.stem) for path in paths if path.suffix == ".look"}
    finals = (path for path in paths if path.suffix == ".json")
    return {path.parent.name: str(path) for path in finals if (path.parent.name, path.stem.split("-")[0]) in looks}


def stirred_campaigns(store: ReadableStore) -> tuple[str, ...]:
    """Return the campaigns that are not known to be at rest."""
    return _others(store, marks(store))


def campaigns_to_look_at(store: ResultStore, now: datetime) -> tuple[str, ...]:
    """Return those too, and some whose marks are old, the oldest first."""
    ages = {file.key: file.changed_at for file in store.listed(layout.AT_REST.folder(""))}
    resting = _whole(iter(ages))
    oldest = sorted(resting, key=lambda name: ages[resting[name]])[:AT_A_TIME]
    again = [name for name in oldest if now - ages[resting[name]] > LOOKED_AT_AGAIN]
    return _others(store, set(resting) - set(again))


def _others(store: ReadableStore, resting: set[str] | dict[str, str]) -> tuple[str, ...]:
    return tuple(name for name in campaign_folders(store) if name not in resting and campaign_exists(store, name))


def begin_look(store: ResultStore, campaign_id: str) -> str:
    """Return the token of a mark that may be made once everything of the campaign was looked at."""
    unmark(store, campaign_id)
    token = uuid4().hex
    store.write(layout.LOOK.key("", campaign_id, token), b"")
    return token


def mark(store: ResultStore, campaign_id: str, token: str, choice: ProviderChoice) -> None:
    """Note that the campaign, whose definition chooses that provider, was found at rest by the look of that token."""
    layout.AT_REST.write(store, "", choice, campaign_id, token, digest_of(choice))


def unmark(store: ResultStore, campaign_id: str) -> None:
    """Note that it is not at rest, or not any more."""
    store.delete(layout.AT_REST.folder("", campaign_id))


@contextmanager
def stirred(store: ResultStore, campaign_id: str) -> Iterator[None]:
    """Let something of the campaign be begun that somebody may have to look for.

    The mark goes before, for one who dies in between; and after, for one who looked before and marks meanwhile.
    """
    unmark(store, campaign_id)
    yield
    unmark(store, campaign_id)


def note_used(store: ResultStore, cluster_id: ClusterId) -> None:
    """Record that the cluster is about to use its database."""
    with stirred(store, cluster_id.campaign_id):
        store.create(layout.DATABASE.key(cluster_id.campaign_id, *_names(cluster_id)), b"")


def note_left(store: ResultStore, cluster_id: ClusterId) -> None:
    """Record that nothing of the cluster is left in its database."""
    store.delete(layout.DATABASE.key(cluster_id.campaign_id, *_names(cluster_id)))


def is_used(store: ReadableStore, campaign_id: str) -> bool:
    """Tell whether a cluster of the campaign may have something in its database."""
    return any(True for _ in store.keys(layout.DATABASE.folder(campaign_id)))


def users(store: ReadableStore, campaign_id: str) -> tuple[ClusterId, ...]:
    """Return the campaign's clusters that may have something in its database. Raises ValueError for other files."""
    prefix = layout.DATABASE.folder(campaign_id)
    return tuple(ClusterId.parse(f"{campaign_id}{key.removeprefix(prefix)}") for key in store.keys(prefix))


def times_of_use(store: ResultStore, campaign_id: str) -> dict[ClusterId, datetime]:
    """Return since when, by the store's clock, those clusters may have it. Files of others are passed over."""
    prefix, times = layout.DATABASE.folder(campaign_id), dict[ClusterId, datetime]()
    for file in store.listed(prefix):
        with suppress(ValueError):
            times[ClusterId.parse(f"{campaign_id}{file.key.removeprefix(prefix)}")] = file.changed_at
    return times


class StoredSetUps:
    """An implementation of the SetUps port: a file for each cluster."""

    def __init__(self, store: ResultStore) -> None:
        self._store = store

    def settle(self, cluster_id: ClusterId, set_up: SetUp) -> SetUp:
        return layout.SET_UP.settle(self._store, cluster_id.campaign_id, set_up, *_names(cluster_id))

    def of(self, cluster_id: ClusterId) -> SetUp | None:
        return layout.SET_UP.read(self._store, cluster_id.campaign_id, *_names(cluster_id))

    def forget(self, cluster_id: ClusterId) -> None:
        self._store.delete(layout.SET_UP.key(cluster_id.campaign_id, *_names(cluster_id)))


def _names(cluster_id: ClusterId) -> tuple[str, int]:
    return cluster_id.purpose, cluster_id.number


def may_have_left(campaign: StoredCampaign, cluster_id: ClusterId) -> bool:
    """Tell whether the attempt of that cluster was on a database of somebody else, whatever became of it."""
    key = cluster_id.attempt
    if key is None or not campaign_exists(campaign.store, campaign.campaign_id):
        return False
    return campaign.declared().provider.owns != "cluster" and layout.ATTEMPT.read(campaign.store, key) is not None
