"""Instances and what else carries a cluster's tags, as clusters. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from plimsoll.adapters.ec2.cloud import Answer, Place
from plimsoll.adapters.ec2.tags import ResourceTags, read_tags
from plimsoll.domain.cluster import Cluster, ClusterId, HostInfo, Role, load_host_name

PROVIDER = "ec2"
_UNKNOWN = "unknown"


@dataclass(frozen=True)
class Resource:
    """Something with tags, as people and as AWS call it: `volume vol-…`, and its description."""

    name: str
    answer: Answer


def by_cluster(resources: Iterable[Resource]) -> dict[ClusterId, list[Resource]]:
    """Tagged resources, cluster by cluster."""
    found: dict[ClusterId, list[Resource]] = defaultdict(list)
    for resource in resources:
        tags = tags_of(resource.answer)
        if tags is not None:
            found[tags.cluster_id].append(resource)
    return found


def tags_of(resource: Answer) -> ResourceTags | None:
    """The content of the resource's tags; None if it belongs to no cluster."""
    return read_tags(resource.get("Tags") or resource.get("TagSet") or ())


def of_role(instances: Iterable[Answer], role: Role) -> list[Answer]:
    """The instances of that role, in the order in which they are named."""
    chosen = [instance for instance in instances if (tags := tags_of(instance)) and tags.role == role]
    return sorted(chosen, key=lambda one: (one["AmiLaunchIndex"], one["InstanceId"]))


def is_whole(instances: Sequence[Answer]) -> bool:
    """Whether these are exactly the requested hosts, all in one zone."""
    wanted = {(tags.nodes, tags.load_hosts) for instance in instances if (tags := tags_of(instance))}
    found = (len(of_role(instances, "node")), len(of_role(instances, "load")))
    zones = {instance["Placement"]["AvailabilityZone"] for instance in instances}
    return len(wanted) == len(zones) == 1 and found == wanted.pop()


def described(
    cluster_id: ClusterId, resources: Sequence[Answer], place: Place, now: datetime, names: Sequence[str] = ()
) -> Cluster:
    """A cluster of those resources: instances are its hosts; where there are none, one unknown host stands for it.

    `names` lists everything of it, for people.
    """
    instances = [resource for resource in resources if "InstanceId" in resource]
    tags = [found for resource in resources if (found := tags_of(resource))]
    nodes = [host_info(one, "node", n, place) for n, one in _numbered(instances, "node")]
    loads = [host_info(one, "load", n, place) for n, one in _numbered(instances, "load")]
    unknown = HostInfo(name="node1", role="node", address=_UNKNOWN, facts={"region": place.region})
    return Cluster(
        id=cluster_id,
        owner=next((one.owner for one in tags if one.owner), ""),
        provider=PROVIDER,
        hosts=(*nodes, *loads) or (unknown,),
        created_at=min((one["LaunchTime"].astimezone(UTC) for one in instances), default=now),
        expires_at=max((one.expires for one in tags if one.expires), default=now),
        resources=tuple(names),
    )


def _numbered(instances: Sequence[Answer], role: Role) -> list[tuple[int, Answer]]:
    return list(enumerate(of_role(instances, role), start=1))


def host_info(instance: Answer, role: Role, number: int, place: Place) -> HostInfo:
    """The host for an instance with that number in its role. Its paid time begins with its launch."""
    tags = tags_of(instance)
    return HostInfo(
        name=load_host_name(number) if role == "load" else f"node{number}",
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
