"""Tags: everything made for a cluster carries them, and nothing without them is ever touched."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from plimsoll.domain.cell import AttemptKey

CAMPAIGN, CELL, ATTEMPT = "plimsoll:campaign", "plimsoll:cell", "plimsoll:attempt"
ROLE, OWNER, EXPIRES = "plimsoll:role", "plimsoll:owner", "plimsoll:expires"
NODES, PRICE, TUNING = "plimsoll:nodes", "plimsoll:usd-per-hour", "plimsoll:tuning"
STORE = "plimsoll:store"
"""Whose clusters they are: those of other result stores are neither seen nor touched."""

Filter = dict[str, Any]
_LONGEST = 256


@dataclass(frozen=True)
class Marks:
    """What the tags of one resource say. The key is sure; the rest may be missing."""

    key: AttemptKey
    role: str = ""
    owner: str = ""
    expires: datetime | None = None
    nodes: int | None = None
    usd_per_hour: float | None = None
    tuning: str = ""


def cluster_tags(key: AttemptKey, owner: str, store: str, expires: datetime) -> dict[str, str]:
    """What every resource of a cluster carries."""
    return {
        STORE: store_tag(store),
        CAMPAIGN: key.campaign_id,
        CELL: key.cell_id,
        ATTEMPT: str(key.attempt),
        OWNER: owner,
        EXPIRES: expires.isoformat(),
        "Name": f"plimsoll {key}",
    }


def as_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """As the API takes them."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def specifications(tags: Mapping[str, str], kinds: Iterable[str]) -> list[dict[str, Any]]:
    """`TagSpecifications`: the same tags on each kind of resource that a call makes."""
    return [{"ResourceType": kind, "Tags": as_list(tags)} for kind in kinds]


def store_tag(store: str) -> str:
    """The store's URL, or a digest where a tag can't hold it."""
    return store if len(store) <= _LONGEST else hashlib.sha256(store.encode()).hexdigest()


def of_key(store: str, key: AttemptKey) -> list[Filter]:
    """Filters for everything of one attempt."""
    wanted = {CAMPAIGN: key.campaign_id, CELL: key.cell_id, ATTEMPT: str(key.attempt)}
    return [*of_store(store), *({"Name": f"tag:{name}", "Values": [value]} for name, value in wanted.items())]


def of_store(store: str) -> list[Filter]:
    """Filters for everything of that store's campaigns."""
    return [{"Name": f"tag:{STORE}", "Values": [_literal(store_tag(store))]}]


def _literal(value: str) -> str:
    """Filters take * and ? for wildcards."""
    return "".join(f"\\{letter}" if letter in "*?\\" else letter for letter in value)


def read_marks(tags: Sequence[Mapping[str, str]]) -> Marks | None:
    """The marks in a resource's tags; None for one that is not a cluster's."""
    said = {tag["Key"]: tag["Value"] for tag in tags}
    try:
        key = AttemptKey(campaign_id=said[CAMPAIGN], cell_id=said[CELL], attempt=int(said[ATTEMPT]))
    except (KeyError, ValueError):  # somebody else's, or made by hand
        return None
    return Marks(
        key=key,
        role=said.get(ROLE, ""),
        owner=said.get(OWNER, ""),
        expires=_time(said.get(EXPIRES, "")),
        nodes=_number(said.get(NODES, ""), int),
        usd_per_hour=_number(said.get(PRICE, ""), float),
        tuning=said.get(TUNING, ""),
    )


def _time(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else None


def _number(text: str, kind: type[Any]) -> Any:
    try:
        return kind(text)
    except ValueError:
        return None
