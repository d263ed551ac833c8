"""Plan the launch of a requested cluster: image, security group, prices, disks, and how hosts prepare themselves."""

from dataclasses import dataclass
from datetime import datetime

from plimsoll.adapters.providers.ec2.cloud import Cloud
from plimsoll.adapters.providers.ec2.host_keys import authorized_key, host_key
from plimsoll.adapters.providers.ec2.images import find_image
from plimsoll.adapters.providers.ec2.instance_store import InstanceStore, instance_store
from plimsoll.adapters.providers.ec2.network import security_group
from plimsoll.adapters.providers.ec2.options import ROLES, Ec2Options
from plimsoll.adapters.providers.ec2.requests import LaunchPlan
from plimsoll.adapters.providers.ec2.user_data import HostSetup, cloud_config
from plimsoll.domain.cluster import ClusterRequest, Role
from plimsoll.domain.cost import Tariff
from plimsoll.ports.secrets import SshIdentity

ROOT = "/var/lib/plimsoll"
"""The folder of all of Plimsoll's files on a host; on the data disk, where the type has one."""


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
        disks = self._disks(options)
        expires = request.expires_at + options.patience
        ends = expires + options.expiry_margin
        if request.ends_at is not None:
            expires, ends = min(expires, request.ends_at), min(ends, request.ends_at)
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
            user_data={role: cloud_config(self._setup(request, options, own, ends)) for role, own in disks.items()},
            disks=disks,
            usd_per_hour={"node": self.tariff.node.usd_per_hour, "load": self.tariff.load.usd_per_hour},
            was_whole=request.was_whole,
            unfit=request.unfit,
        )

    def _disks(self, options: Ec2Options) -> dict[Role, InstanceStore]:
        """Return the own disks of the types of both roles."""
        types = {role: options.instance_types.of(role) for role in ROLES}
        asked = {"InstanceTypes": sorted(set(types.values()))}
        described = self.cloud.call("describe_instance_types", **asked)["InstanceTypes"]
        own = {one["InstanceType"]: instance_store(one) for one in described}
        return {role: own[kind] for role, kind in types.items()}

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
