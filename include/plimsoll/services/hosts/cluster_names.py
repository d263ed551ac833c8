"""Names that people give for clusters: whether anything had such a name, and what was meant if not."""

from collections.abc import Iterator, Sequence

from plimsoll.domain.cluster import ClusterId
from plimsoll.domain.errors import NotFound
from plimsoll.domain.wording import meant, nearest
from plimsoll.ports.store import ReadableStore
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import campaign_exists


def require_known(store: ReadableStore, name: str, living: Sequence[ClusterId]) -> None:
    """Raise NotFound, with the name that was meant, where the store has no such cluster and no such campaign.

    `living` are the clusters that live, none of which has the name. The name of a campaign that has some of them is not
    enough: which of them was meant is not clear.
    """
    if own := [str(one) for one in living if one.campaign_id == name]:
        what = f"{name!r} is a campaign, and clusters are named one by one, so nothing was destroyed"
        raise NotFound(what, where=store.url(), mend=f"name one of its living clusters: {', '.join(own)}")
    if _is_on_record(store, name):
        return
    mend = f"{meant(name, [*map(str, living), *_alike(store, name)])} `plimsoll clusters list` shows what lives"
    raise NotFound(
        f"no campaign and no cluster has the name {name!r}, so nothing was destroyed",
        where=store.url(),
        mend=mend.strip(),
    )


def _is_on_record(store: ReadableStore, name: str) -> bool:
    """Tell whether the name is a campaign's, or that of a cluster with a folder in the store."""
    campaign_id, purpose, _ = _parts(name)
    if not purpose:
        return campaign_id in store.folders("") and campaign_exists(store, campaign_id)
    return name in _clusters(store, campaign_id, purpose)


def _alike(store: ReadableStore, name: str) -> Iterator[str]:
    """Yield the campaign with the most similar name, and of its clusters those with the most similar purpose."""
    campaign_id, purpose, _ = _parts(name)
    found = nearest(campaign_id, store.folders(""))
    if found is None:
        return
    yield found
    purposes = {one for folder in _folders(found) for one in store.folders(folder)}
    if purpose and (alike := nearest(purpose, purposes)):
        yield from _clusters(store, found, alike)


def _clusters(store: ReadableStore, campaign_id: str, purpose: str) -> list[str]:
    """Return the names of the campaign's clusters on record with that purpose."""
    if campaign_id not in store.folders(""):
        return []
    kept = [folder for folder in _folders(campaign_id) if purpose in store.folders(folder)]
    numbers = (number for folder in kept for number in store.folders(f"{folder}/{purpose}") if number.isdigit())
    return [f"{campaign_id}/{purpose}/{number}" for number in numbers]


def _folders(campaign_id: str) -> tuple[str, str]:
    """Return the folders of each purpose of the campaign's clusters: its cells, and what hosts are kept for."""
    return layout.cells_prefix(campaign_id), layout.clusters_prefix(campaign_id)


def _parts(name: str) -> tuple[str, str, str]:
    """Return the campaign, the purpose and the number that the name gives, as far as it gives them."""
    campaign_id, _, rest = name.partition("/")
    purpose, _, number = rest.partition("/")
    return campaign_id, purpose, number
