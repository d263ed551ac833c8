"""Which campaigns there are, and of which definitions: few requests, and nothing is parsed."""

import re
from collections.abc import Iterator
from contextlib import suppress

from plimsoll.domain.campaign.cell import campaign_id_problem
from plimsoll.domain.text.errors import NotFound, StoreError
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.store import layout

_NAME = re.compile(rb"^name: *['\"]?([\w-]+)", re.MULTILINE)
"""The name in a campaign's own copy of its definition, which Plimsoll wrote."""


def campaign_ids(store: ReadableStore) -> tuple[str, ...]:
    return tuple(name for name in campaign_folders(store) if campaign_exists(store, name))


def campaign_folders(store: ReadableStore) -> tuple[str, ...]:
    """Return the folders that are those of campaigns by their names, whatever is in them: one listing tells."""
    return tuple(name for name in store.folders("") if campaign_id_problem(name) is None)


def campaigns_by_definition(store: ResultStore) -> dict[str, list[str]]:
    """Return the ids of all campaigns by the names of their definitions, sorted.

    Two listings tell, but of campaigns of which nothing is noted: they are older, and their definitions are read, once
    if the store lets a note be written. A campaign whose folder somebody replaced by another's stands under both names.
    """
    ids, noted = campaign_folders(store), set(_notes(store))
    older = set(ids) - {campaign_id for _, campaign_id in noted}
    read = {(name, campaign_id) for campaign_id in older if (name := definition_name(store, campaign_id))}
    with suppress(StoreError):  # whoever may only read the store reads the definitions each time
        for name, campaign_id in sorted(read):
            note_definition(store, campaign_id, name)
    by_definition: dict[str, list[str]] = {}
    for name, campaign_id in sorted(read | {pair for pair in noted if pair[1] in ids}):
        by_definition.setdefault(name, []).append(campaign_id)
    return by_definition


def note_definition(store: ResultStore, campaign_id: str, name: str) -> None:
    """Note of which definition the campaign is, where a listing finds it. Of one that is gone no note stays."""
    key = layout.CAMPAIGN_OF.key("", name, campaign_id)
    store.create(key, b"")
    if not campaign_exists(store, campaign_id):  # it was deleted meanwhile
        store.delete(key)


def noted_definitions(store: ReadableStore, campaign_id: str) -> tuple[str, ...]:
    """Return the names of definitions of which the campaign is noted to be: one, but for what was left of others."""
    return tuple(name for name, noted in _notes(store) if noted == campaign_id)


def _notes(store: ReadableStore) -> Iterator[tuple[str, str]]:
    for key in store.keys(layout.CAMPAIGN_OF.folder("")):
        # Marks on trends lie beside them, and so may files of an operating system
        if (parts := key.split("/"))[2:-1] == ["campaigns"]:
            yield parts[1], parts[3]


def definition_name(store: ReadableStore, campaign_id: str) -> str:
    """Return the name of the campaign's definition; empty where there is no such campaign. Nothing is parsed."""
    try:
        match = _NAME.search(store.read(layout.DEFINITION.key(campaign_id)))
    except NotFound:
        return ""
    return match[1].decode() if match else ""


def campaign_exists(store: ReadableStore, campaign_id: str) -> bool:
    return store.exists(layout.DEFINITION.key(campaign_id))
