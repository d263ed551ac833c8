"""Make one EC2 resource of each kind, as a cluster could have left it, and list the resources of each kind."""

from datetime import UTC, datetime, timedelta
from typing import Any

from plimsoll.adapters.providers.ec2.tags import as_list, cluster_tags
from plimsoll.domain.hosts.cluster import ClusterId

LIVING = ["pending", "running", "stopping", "stopped"]


def tagged(kind: str, store: str, cluster_id: ClusterId, owner: str = "cli-1") -> list[dict[str, Any]]:
    """Return `TagSpecifications` as a cluster's resources have them; the cluster expired long ago."""
    expires = datetime.now(UTC) - timedelta(days=1)
    return [{"ResourceType": kind, "Tags": as_list(cluster_tags(cluster_id, owner, store, expires))}]


def leave(ec2: Any, store: str, cluster_id: ClusterId, owner: str = "cli-1") -> None:
    """Make one resource of each kind with the tags of that cluster."""

    def tags(kind: str) -> list[dict[str, Any]]:
        return tagged(kind, store, cluster_id, owner)

    make_one_of_each(ec2, f"left-{owner}-{cluster_id.purpose}", tags)


def make_one_of_each(ec2: Any, name: str, tags: Any = lambda _: []) -> None:
    """Make an instance and one of each other resource that a cluster could have. `tags` returns the tags by kind."""
    by_default = [{"Name": "default-for-az", "Values": ["true"]}]
    subnet = ec2.describe_subnets(Filters=by_default)["Subnets"][0]
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    ec2.run_instances(
        ImageId=image,
        InstanceType="r5d.2xlarge",
        MinCount=1,
        MaxCount=1,
        SubnetId=subnet["SubnetId"],
        TagSpecifications=[*tags("instance"), *tags("volume"), *tags("network-interface")],
    )
    ec2.create_volume(AvailabilityZone=subnet["AvailabilityZone"], Size=8, TagSpecifications=tags("volume"))
    ec2.create_network_interface(SubnetId=subnet["SubnetId"], TagSpecifications=tags("network-interface"))
    ec2.create_placement_group(GroupName=name, Strategy="cluster", TagSpecifications=tags("placement-group"))


def census(ec2: Any) -> dict[str, list[str]]:
    """Return the ids of all existing resources, by kind. A terminated instance does not count."""
    living = [{"Name": "instance-state-name", "Values": LIVING}]
    instances = ec2.describe_instances(Filters=living)["Reservations"]
    return {
        "instances": sorted(one["InstanceId"] for each in instances for one in each["Instances"]),
        "volumes": sorted(one["VolumeId"] for one in ec2.describe_volumes()["Volumes"]),
        "interfaces": sorted(
            one["NetworkInterfaceId"] for one in ec2.describe_network_interfaces()["NetworkInterfaces"]
        ),
        "placement": sorted(one["GroupName"] for one in ec2.describe_placement_groups()["PlacementGroups"]),
    }
