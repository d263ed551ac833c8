"""Tags. Everything made for a cluster has them, and resources without them are never touched. What carries them, as
clusters. Pure.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from plimsoll.adapters.hosts.processes import tagged_time
from plimsoll.adapters.providers.ec2.cloud import Answer, CloudRegion, Filter
from plimsoll.adapters.providers.ec2.options import ROLES
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, HostInfo, Launch, Role, load_host_name

CAMPAIGN, CELL, ATTEMPT = "plimsoll:campaign", "plimsoll:cell", "plimsoll:attempt"
"""Together the cluster's id. Of hosts that are kept from cell to cell: what they are kept for, and their number."""
ROLE, OWNER, EXPIRES = "plimsoll:role", "plimsoll:owner", "plimsoll:expires"
NODES, LOAD_HOSTS = "plimsoll:nodes", "plimsoll:load-hosts"
PRICE, TUNING = "plimsoll:usd-per-hour", "plimsoll:tuning"
STORE = "plimsoll:store"
"""The tag with the result store of a cluster. Clusters of other result stores are neither seen nor touched."""

# AWS's limit for a tag's value, in characters
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
    return {
        STORE: store_tag(store),
        **_id_tags(cluster_id),
        OWNER: owner,
        EXPIRES: expires.isoformat(),
        "Name": f"plimsoll {cluster_id}",
    }


def recorded_tags(launch: Launch, host: HostInfo) -> dict[str, str]:
    """Return the tags by which a recorded host is described. All but the store's."""
    sizes = {NODES: launch.nodes, LOAD_HOSTS: launch.load_hosts, PRICE: host.usd_per_hour}
    return {
        **_id_tags(launch.id),
        ROLE: launch.role,
        OWNER: launch.owner,
        EXPIRES: launch.expires_at.isoformat(),
        TUNING: host.facts.get("tuning", ""),
        **{tag: str(value) for tag, value in sizes.items() if value is not None},
    }


def _id_tags(cluster_id: ClusterId) -> dict[str, str]:
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
        *({"Name": f"tag:{name}", "Values": [value]} for name, value in _id_tags(cluster_id).items()),
    ]


def of_store(store: str) -> list[Filter]:
    """Return filters for everything of that store's campaigns."""
    # Filters take * and ? for wildcards
    literal = "".join(f"\\{letter}" if letter in "*?\\" else letter for letter in store_tag(store))
    return [{"Name": f"tag:{STORE}", "Values": [literal]}]


def tags_of(resource: Answer) -> ResourceTags | None:
    """Return the content of a resource's tags; None where it does not belong to a cluster."""
    values = {tag["Key"]: tag["Value"] for tag in resource.get("Tags") or resource.get("TagSet") or ()}
    try:
        cluster_id = ClusterId(campaign_id=values[CAMPAIGN], name=f"{values[CELL]}/{int(values[ATTEMPT])}")
    except (KeyError, ValueError):  # somebody else's, or made by hand
        return None
    return ResourceTags(
        cluster_id=cluster_id,
        role=values.get(ROLE, ""),
        owner=values.get(OWNER, ""),
        expires=tagged_time(values.get(EXPIRES, "")),
        nodes=_number(values.get(NODES, ""), int),
        load_hosts=_number(values.get(LOAD_HOSTS, ""), int),
        usd_per_hour=_number(values.get(PRICE, ""), float),
        tuning=values.get(TUNING, ""),
    )


def _number(text: str, kind: type[Any]) -> Any:
    try:
        return kind(text)
    except ValueError:
        return None


PROVIDER = "ec2"
_UNKNOWN = "unknown"


def by_cluster(resources: Iterable[Answer]) -> dict[ClusterId, list[Answer]]:
    groups: dict[ClusterId, list[Answer]] = defaultdict(list)
    for resource in resources:
        if tags := tags_of(resource):
            groups[tags.cluster_id].append(resource)
    return groups


def of_role(instances: Iterable[Answer], role: Role) -> list[Answer]:
    """Return the instances of that role, in the order in which they are named."""
    chosen = [instance for instance in instances if (tags := tags_of(instance)) and tags.role == role]
    return sorted(chosen, key=itemgetter("AmiLaunchIndex", "InstanceId"))


def is_whole(instances: Sequence[Answer]) -> bool:
    """Tell whether these are exactly the requested hosts, all in one zone."""
    requested = {(tags.nodes, tags.load_hosts) for instance in instances if (tags := tags_of(instance))}
    counts = (len(of_role(instances, "node")), len(of_role(instances, "load")))
    zones = {instance["Placement"]["AvailabilityZone"] for instance in instances}
    return len(requested) == len(zones) == 1 and counts == requested.pop()


@dataclass(frozen=True)
class Recorded:
    """The part of the record of launches about a cluster that EC2's lists lack."""

    hosts: Sequence[HostInfo] = ()
    """Hosts that EC2 does not list yet."""
    owner: str = ""
    expires_at: datetime | None = None
    names: Sequence[str] = ()
    """The resources for people, as far as they are known."""


def described(  # noqa: PLR0913, PLR0917  # all that is known of it
    cluster_id: ClusterId,
    resources: Sequence[Answer],
    place: CloudRegion,
    now: datetime,
    names: Sequence[str] = (),
    recorded: Recorded = Recorded(),
) -> Cluster:
    """Return a cluster of those resources: instances are its hosts. Where there are none, one unknown host stands for
    it. `names` lists everything of it, for people.
    """
    instances = [resource for resource in resources if "InstanceId" in resource]
    tags = list(filter(None, map(tags_of, resources)))
    nodes, loads = (_hosts(instances, recorded.hosts, role, place) for role in ROLES)
    unknown = HostInfo(name="node1", role="node", address=_UNKNOWN, facts={"region": place.region})
    began = [host.since for host in (*nodes, *loads) if host.since]
    # What else there is keeps the tags of its launch; the end of kept hosts is set anew.
    dated = list(filter(None, map(tags_of, instances))) or tags
    ends = filter(None, [*(tagged.expires for tagged in dated), recorded.expires_at])
    return Cluster(
        id=cluster_id,
        owner=next((tagged.owner for tagged in tags if tagged.owner), recorded.owner),
        provider=PROVIDER,
        hosts=(*nodes, *loads) or (unknown,),
        created_at=min(began, default=now),
        expires_at=max(ends, default=now),
        resources=(*names, *recorded.names),
    )


def why_ended(instance: Answer) -> str:
    """Return AWS's reason for the end of an instance, such as a Spot interruption, maintenance or a user, and when."""
    reasons = (instance.get("StateReason", {}).get("Message"), instance.get("StateTransitionReason"))
    return ", ".join(dict.fromkeys(filter(None, reasons))) or "no reason given"


def _hosts(instances: Sequence[Answer], hidden: Sequence[HostInfo], role: Role, place: CloudRegion) -> list[HostInfo]:
    """Return the hosts of that role, those that are not listed last."""
    own = of_role(instances, role)
    listed = [host_info(instance, role, number, place) for number, instance in enumerate(own, start=1)]
    further = enumerate((host for host in hidden if host.role == role), start=len(listed) + 1)
    return [*listed, *(host.model_copy(update={"name": _name(role, number)}) for number, host in further)]


def _name(role: Role, number: int) -> str:
    return load_host_name(number) if role == "load" else f"node{number}"


def host_info(instance: Answer, role: Role, number: int, place: CloudRegion) -> HostInfo:
    """Return the host for an instance with that number in its role. Its paid time begins with its launch."""
    tags = tags_of(instance)
    return HostInfo(
        name=_name(role, number),
        role=role,
        address=instance.get("PrivateIpAddress") or _UNKNOWN,
        since=instance["LaunchTime"].astimezone(UTC),
        usd_per_hour=tags.usd_per_hour if tags else None,
        facts={
            "instance_id": instance["InstanceId"],
            "instance_type": instance["InstanceType"],
            "image": instance.get("ImageId", _UNKNOWN),
            "region": place.region,
            "zone": instance["Placement"]["AvailabilityZone"],
            "placement_group": instance["Placement"].get("GroupName", ""),
            "tenancy": instance["Placement"].get("Tenancy", "default"),
            "tuning": tags.tuning if tags else "",
        },
    )
