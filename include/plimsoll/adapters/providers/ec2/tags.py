"""Tags. Everything made for a cluster has them, and resources without them are never touched."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from plimsoll.domain.hosts.cluster import ClusterId, HostInfo, Launch

CAMPAIGN, CELL, ATTEMPT = "plimsoll:campaign", "plimsoll:cell", "plimsoll:attempt"
"""Together the cluster's id. Of hosts that are kept from cell to cell: what they are kept for, and their number."""
ROLE, OWNER, EXPIRES = "plimsoll:role", "plimsoll:owner", "plimsoll:expires"
NODES, LOAD_HOSTS = "plimsoll:nodes", "plimsoll:load-hosts"
PRICE, TUNING = "plimsoll:usd-per-hour", "plimsoll:tuning"
STORE = "plimsoll:store"
"""The tag with the result store of a cluster. Clusters of other result stores are neither seen nor touched."""

Filter = dict[str, Any]
_LONGEST = 256


@dataclass(frozen=True)
class ResourceTags:
    """The content of a resource's tags. Only the cluster is always known."""

    cluster_id: ClusterId
    role: str = ""
    owner: str = ""
    expires: datetime | None = None
    nodes: int | None = None
    load_hosts: int | None = None
    usd_per_hour: float | None = None
    tuning: str = ""


def cluster_tags(cluster_id: ClusterId, owner: str, store: str, expires: datetime) -> dict[str, str]:
    """Return the tags of every resource of a cluster."""
    return {
        STORE: store_tag(store),
        **_name(cluster_id),
        OWNER: owner,
        EXPIRES: expires.isoformat(),
        "Name": f"plimsoll {cluster_id}",
    }


def recorded_tags(launch: Launch, host: HostInfo) -> dict[str, str]:
    """Return the tags by which a recorded host is described. All but the store's."""
    sizes = {NODES: launch.nodes, LOAD_HOSTS: launch.load_hosts, PRICE: host.usd_per_hour}
    return {
        **_name(launch.id),
        ROLE: launch.role,
        OWNER: launch.owner,
        EXPIRES: launch.expires_at.isoformat(),
        TUNING: host.facts.get("tuning", ""),
        **{tag: str(value) for tag, value in sizes.items() if value is not None},
    }


def _name(cluster_id: ClusterId) -> dict[str, str]:
    return {CAMPAIGN: cluster_id.campaign_id, CELL: cluster_id.purpose, ATTEMPT: str(cluster_id.number)}


def as_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """Return tags in the form of the API."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def specifications(tags: Mapping[str, str], kinds: Iterable[str]) -> list[dict[str, Any]]:
    """Return `TagSpecifications` with the same tags for each kind of resource that a call makes."""
    return [{"ResourceType": kind, "Tags": as_list(tags)} for kind in kinds]


def store_tag(store: str) -> str:
    """Return the store's URL, or a digest of it where a tag can't contain it."""
    return store if len(store) <= _LONGEST else hashlib.sha256(store.encode()).hexdigest()


def of_cluster(store: str, cluster_id: ClusterId) -> list[Filter]:
    """Return filters for everything of one cluster."""
    return [
        *of_store(store),
        *({"Name": f"tag:{name}", "Values": [value]} for name, value in _name(cluster_id).items()),
    ]


def of_store(store: str) -> list[Filter]:
    """Return filters for everything of that store's campaigns."""
    return [{"Name": f"tag:{STORE}", "Values": [_literal(store_tag(store))]}]


def _literal(value: str) -> str:
    """Return the text with * and ? escaped, which filters take for wildcards."""
    return "".join(f"\\{letter}" if letter in "*?\\" else letter for letter in value)


def read_tags(tags: Sequence[Mapping[str, str]]) -> ResourceTags | None:
    """Return the content of a resource's tags; None where it does not belong to a cluster."""
    said = {tag["Key"]: tag["Value"] for tag in tags}
    try:
        cluster_id = ClusterId(campaign_id=said[CAMPAIGN], name=f"{said[CELL]}/{int(said[ATTEMPT])}")
    except (KeyError, ValueError):  # somebody else's, or made by hand
        return None
    return ResourceTags(
        cluster_id=cluster_id,
        role=said.get(ROLE, ""),
        owner=said.get(OWNER, ""),
        expires=_time(said.get(EXPIRES, "")),
        nodes=_number(said.get(NODES, ""), int),
        load_hosts=_number(said.get(LOAD_HOSTS, ""), int),
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
