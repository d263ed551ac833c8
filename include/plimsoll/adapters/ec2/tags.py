"""Tags: everything made for a cluster carries them, and nothing without them is ever touched."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from plimsoll.domain.cluster import ClusterId

CAMPAIGN, CELL, ATTEMPT = "plimsoll:campaign", "plimsoll:cell", "plimsoll:attempt"
"""Together the cluster's id. Of hosts that are kept from cell to cell: what they are kept for, and their number."""
ROLE, OWNER, EXPIRES = "plimsoll:role", "plimsoll:owner", "plimsoll:expires"
NODES, LOAD_HOSTS = "plimsoll:nodes", "plimsoll:load-hosts"
PRICE, TUNING = "plimsoll:usd-per-hour", "plimsoll:tuning"
STORE = "plimsoll:store"
"""Whose clusters they are: those of other result stores are neither seen nor touched."""

Filter = dict[str, Any]
_LONGEST = 256


@dataclass(frozen=True)
class Marks:
    """What the tags of one resource say. The cluster is sure; the rest may be missing."""

    cluster_id: ClusterId
    role: str = ""
    owner: str = ""
    expires: datetime | None = None
    nodes: int | None = None
    load_hosts: int = 1
    usd_per_hour: float | None = None
    tuning: str = ""


def cluster_tags(cluster_id: ClusterId, owner: str, store: str, expires: datetime) -> dict[str, str]:
    """What every resource of a cluster carries."""
    return {
        STORE: store_tag(store),
        **_name(cluster_id),
        OWNER: owner,
        EXPIRES: expires.isoformat(),
        "Name": f"plimsoll {cluster_id}",
    }


def _name(cluster_id: ClusterId) -> dict[str, str]:
    return {CAMPAIGN: cluster_id.campaign_id, CELL: cluster_id.purpose, ATTEMPT: str(cluster_id.number)}


def as_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """As the API takes them."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def specifications(tags: Mapping[str, str], kinds: Iterable[str]) -> list[dict[str, Any]]:
    """`TagSpecifications`: the same tags on each kind of resource that a call makes."""
    return [{"ResourceType": kind, "Tags": as_list(tags)} for kind in kinds]


def store_tag(store: str) -> str:
    """The store's URL, or a digest where a tag can't hold it."""
    return store if len(store) <= _LONGEST else hashlib.sha256(store.encode()).hexdigest()


def of_cluster(store: str, cluster_id: ClusterId) -> list[Filter]:
    """Filters for everything of one cluster."""
    return [
        *of_store(store),
        *({"Name": f"tag:{name}", "Values": [value]} for name, value in _name(cluster_id).items()),
    ]


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
        cluster_id = ClusterId(campaign_id=said[CAMPAIGN], name=f"{said[CELL]}/{int(said[ATTEMPT])}")
    except (KeyError, ValueError):  # somebody else's, or made by hand
        return None
    return Marks(
        cluster_id=cluster_id,
        role=said.get(ROLE, ""),
        owner=said.get(OWNER, ""),
        expires=_time(said.get(EXPIRES, "")),
        nodes=_number(said.get(NODES, ""), int),
        load_hosts=_number(said.get(LOAD_HOSTS, ""), int) or 1,  # hosts of earlier versions do not say
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
