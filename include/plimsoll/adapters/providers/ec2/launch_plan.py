"""Plan the launch of a requested cluster, down to the parameters of RunInstances and CreatePlacementGroup: image,
security group, prices, disks, and how hosts prepare themselves.
"""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from plimsoll.adapters.providers.ec2 import tags
from plimsoll.adapters.providers.ec2.cloud import Cloud
from plimsoll.adapters.providers.ec2.instance_types import Image, InstanceStore, find_image, instance_store
from plimsoll.adapters.providers.ec2.network import Subnet, security_group
from plimsoll.adapters.providers.ec2.options import ROLES, Ec2Options
from plimsoll.adapters.providers.ec2.user_data import LIMITS, HostSetup, cloud_config, host_key, kernel_parameters
from plimsoll.adapters.providers.requested import within_ceiling
from plimsoll.adapters.providers.ssh.login import authorized_key
from plimsoll.domain.hosts.cluster import ClusterId, ClusterRequest, Role
from plimsoll.domain.hosts.cost import Tariff
from plimsoll.ports.secrets import SshIdentity

ROOT = "/var/lib/plimsoll"
"""The folder of all of Plimsoll's files on a host; on the data disk, where the type has one."""

_GIB = 1 << 30


@dataclass(frozen=True)
class LaunchPlan:
    """A cluster that is to be launched, all that does not depend on the zone."""

    id: ClusterId
    owner: str
    store: str
    nodes: int
    load_hosts: int
    expires: datetime
    ends: datetime
    """When hosts end themselves, whatever happens to everybody else."""
    options: Ec2Options
    image: Image
    security_group: str
    user_data: dict[Role, str] = field(repr=False)
    """Holds the host's private key."""
    disks: dict[Role, InstanceStore]
    """The disks that hosts of each role have beside their system disk."""
    usd_per_hour: dict[Role, float | None]
    was_whole: bool = False
    unfit: frozenset[str] = frozenset()
    """Ids of instances that are to be replaced."""

    def count(self, role: Role) -> int:
        return self.nodes if role == "node" else self.load_hosts


@dataclass(frozen=True)
class LaunchPlanner:
    """The maker of launch plans for one place, `cloud`. `identity` logs in to the hosts."""

    cloud: Cloud
    store: str
    identity: SshIdentity
    tariff: Tariff

    def launch_plan(self, request: ClusterRequest, options: Ec2Options, vpc: str, image: str = "") -> LaunchPlan:
        """Return the cluster to launch; equal for equal requests.

        `image`: that of the cluster's other hosts. The time of waiting for room is added to the expiry, within the
        ceiling of the definition.
        """
        types = {role: options.instance_types.of(role) for role in ROLES}
        answer = self.cloud.call("describe_instance_types", InstanceTypes=sorted(set(types.values())))
        own = {described["InstanceType"]: instance_store(described) for described in answer["InstanceTypes"]}
        disks = {role: own[kind] for role, kind in types.items()}
        expires = within_ceiling(request, request.expires_at + options.patience)
        ends = within_ceiling(request, expires + options.expiry_margin)
        return LaunchPlan(
            id=request.id,
            owner=request.owner,
            store=self.store,
            nodes=request.nodes,
            load_hosts=request.load_hosts,
            expires=expires,
            ends=ends,
            options=options,
            image=find_image(self.cloud, options, image),
            security_group=security_group(self.cloud, options, vpc)["GroupId"],
            user_data={role: cloud_config(self._setup(request, options, disks[role], ends)) for role in ROLES},
            disks=disks,
            usd_per_hour={"node": self.tariff.node.usd_per_hour, "load": self.tariff.load.usd_per_hour},
            was_whole=request.was_whole,
            unfit=request.unfit,
        )

    def _setup(self, request: ClusterRequest, options: Ec2Options, disks: InstanceStore, ends: datetime) -> HostSetup:
        return HostSetup(
            user=self.identity.user,
            root=ROOT,
            host_key=host_key(self.identity, request.id),
            authorized=authorized_key(self.identity, options.ssh_connection),
            ends_at=ends,
            transparent_huge_pages=options.transparent_huge_pages,
            readahead_kib=options.readahead_kib,
            huge_pages=options.huge_pages,
            is_kept=request.id.is_kept,
            disks=disks,
        )


def run_instances(
    plan: LaunchPlan, role: Role, subnet: Subnet, generation: int, beside: Collection[str] = ()
) -> dict[str, Any]:
    """Return parameters that launch all missing hosts of one role in one subnet, or none.

    `beside`: ids of hosts that are there. Equal arguments give equal parameters, so a request can be repeated.
    """
    options, count = plan.options, plan.count(role) - len(beside)
    grouped = options.placement_group == "cluster"
    group = {"GroupName": group_name(plan.store, plan.id, subnet.zone)} if grouped else {}
    return {
        "ClientToken": client_token(plan, role, subnet.zone, generation, beside),
        "ImageId": plan.image.id,
        "InstanceType": options.instance_types.of(role),
        "MinCount": count,
        "MaxCount": count,
        "NetworkInterfaces": [
            {
                "DeviceIndex": 0,
                "SubnetId": subnet.id,
                "Groups": [plan.security_group],
                # Else the subnet decides
                "AssociatePublicIpAddress": options.public_addresses,
                "DeleteOnTermination": True,
            }
        ],
        "UserData": plan.user_data[role],
        "Placement": {"AvailabilityZone": subnet.zone, "Tenancy": options.tenancy, **group},
        "BlockDeviceMappings": [_root_disk(plan), *plan.disks[role].mappings],
        # The dead man's switch shuts the host down, which must also end what it costs
        "InstanceInitiatedShutdownBehavior": "terminate",
        # Metadata include the user data, where the private host key is: they are given for a token alone, and to nobody
        # beyond the host itself
        "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 1, "HttpEndpoint": "enabled"},
        "TagSpecifications": tags.specifications(_tags(plan, role), ("instance", "volume", "network-interface")),
    }


def create_placement_group(plan: LaunchPlan, subnet: Subnet) -> dict[str, Any]:
    """Return a group of its own for each cluster and zone: a group that is in use can't follow to another zone."""
    tagged = tags.cluster_tags(plan.id, plan.owner, plan.store, plan.expires)
    return {
        "GroupName": group_name(plan.store, plan.id, subnet.zone),
        "Strategy": "cluster",
        "TagSpecifications": tags.specifications(tagged, ("placement-group",)),
    }


def group_name(store: str, cluster_id: ClusterId, zone: str) -> str:
    """Return the name of a cluster's placement group in that zone; another store has one of its own."""
    whose = hashlib.sha256(store.encode()).hexdigest()[:8]
    return f"plimsoll-{whose}-{cluster_id.campaign_id}-{cluster_id.purpose}-{cluster_id.number}-{zone}"


def client_token(plan: LaunchPlan, role: Role, zone: str, generation: int, beside: Collection[str] = ()) -> str:
    """Return the token of a launch.

    AWS launches nothing a second time for the same token, even if its first answer was lost. Once its instances are
    terminated, a token is used up, and the next `generation` gives another one. Equal names of clusters in other stores
    have other tokens. So have launches that replace hosts: `beside` are the ids of the hosts that live.
    """
    survivors = "".join(f"|{instance}" for instance in sorted(beside))
    return hashlib.sha256(f"{plan.store}|{plan.id}|{role}|{zone}|{generation}{survivors}".encode()).hexdigest()


def tuning(options: Ec2Options) -> str:
    """Return the tuning that every prepared host has, as text for the fingerprint."""
    values = {**kernel_parameters(options.huge_pages), **LIMITS}
    set_to = ", ".join(f"{name} {value}" for name, value in values.items())
    pages = f"transparent huge pages {options.transparent_huge_pages}"
    return f"readahead {options.readahead_kib} KiB, {pages}, swap off, {set_to}"


def _tags(plan: LaunchPlan, role: Role) -> dict[str, str]:
    price = plan.usd_per_hour[role]
    return {
        **tags.cluster_tags(plan.id, plan.owner, plan.store, plan.expires),
        tags.ROLE: role,
        tags.NODES: str(plan.nodes),
        tags.LOAD_HOSTS: str(plan.load_hosts),
        tags.TUNING: tuning(plan.options),
        **({} if price is None else {tags.PRICE: str(price)}),
    }


def _root_disk(plan: LaunchPlan) -> dict[str, Any]:
    # Rounded up: EBS counts whole GiB
    size = -(-plan.options.root_volume // _GIB)
    disk = {"VolumeType": "gp3", "VolumeSize": size, "Encrypted": True, "DeleteOnTermination": True}
    return {"DeviceName": plan.image.root_device, "Ebs": disk}
