"""Options of the EC2 provider in a definition: `provider: {name: ec2, options: {…}}`."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from plimsoll.domain.hosts.cluster import Role
from plimsoll.domain.keys.faults import Fault, Faulty
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.units import Duration, Size

ROLES: tuple[Role, Role] = ("node", "load")
_TYPE = r"^[a-z0-9-]+\.[a-z0-9-]+$"
_GIB = 1 << 30
InstanceType = Annotated[str, Field(pattern=_TYPE, examples=["r5d.2xlarge"])]


class InstanceTypes(Model):
    """The instance type of each role."""

    node: Annotated[InstanceType, Field(description="Database nodes")]
    load: Annotated[InstanceType, Field(description="The load generator's host")]

    def of(self, role: Role) -> str:
        return self.node if role == "node" else self.load


CONNECTION = "aws_default"


class Ec2Options(Model):
    """The provider's options: place, network, image and types of a cell's hosts."""

    connection: Annotated[str, Field(min_length=1, description="Airflow connection to AWS")] = CONNECTION
    ssh_connection: Annotated[
        str, Field(min_length=1, description="Airflow connection of type ssh with the private key for the hosts")
    ] = "plimsoll_ssh"
    ssh_port: Annotated[int, Field(ge=1, le=65535, description="Where the image's sshd listens")] = 22
    region: Annotated[
        str, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-\d$", description="Region of AWS", examples=["us-east-1"])
    ]
    subnets: Annotated[
        tuple[Annotated[str, Field(pattern=r"^subnet-[0-9a-z]+$")], ...],
        Field(description="Subnets in order of preference; or name `zones`"),
    ] = ()
    zones: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[a-z0-9-]+$")], ...],
        Field(description="Zones in order of preference, each by its default subnet"),
    ] = ()
    security_group: Annotated[str, Field(min_length=1, description="Id (sg-…) or name, in the subnets' VPC")]
    image: Annotated[
        str, Field(pattern=r"^(ami-[0-9a-f]+|/[\w./:-]+)$", description="AMI, or SSM parameter that holds one")
    ]
    instance_types: InstanceTypes
    placement_group: Annotated[
        Literal["cluster", "none"], Field(description="`cluster`: a cell's hosts stand close together in the network")
    ] = "cluster"
    tenancy: Annotated[Literal["default", "dedicated"], Field(description="Whether hardware is shared")] = "default"
    public_addresses: Annotated[
        bool, Field(description="Whether hosts also get public addresses; the controller uses private ones in any case")
    ] = False
    root_volume: Annotated[Size, Field(ge=8 * _GIB, description="Size of the encrypted system disk")] = 30 * _GIB
    transparent_huge_pages: Annotated[
        Literal["always", "madvise", "never"],
        Field(
            description="On every host, also of shared memory such as ZGC's heap; "
            "`madvise` gives them to JVMs that ask with -XX:+UseTransparentHugePages"
        ),
    ] = "madvise"
    huge_pages: Annotated[
        Size,
        Field(description="Memory of every host that JVMs get in huge pages if they ask with -XX:+UseLargePages"),
    ] = 0
    readahead_kib: Annotated[int, Field(ge=0, le=4096, description="Readahead of the data disk, KiB")] = 4
    patience: Annotated[
        Duration, Field(description="How long a cell waits for capacity or for its share of the vCPU quota")
    ] = timedelta(minutes=30)
    startup: Annotated[Duration, Field(description="How long launched hosts may take until they run and answer")] = (
        timedelta(minutes=10)
    )
    expiry_margin: Annotated[
        Duration, Field(description="Hosts end themselves this long after their cluster's expiry")
    ] = timedelta(minutes=30)
    prices: Annotated[
        Mapping[InstanceType, Annotated[float, Field(ge=0, allow_inf_nan=False)]],
        Field(description="Your own USD per hour by instance type, instead of the list prices"),
    ] = {}

    @model_validator(mode="after")
    def _has_a_place(self) -> Self:
        if bool(self.subnets) == bool(self.zones):
            what = "both `subnets` and `zones` are given" if self.zones else "neither `subnets` nor `zones` are given"
            raise Faulty([Fault((), what, "give one of the two")])
        return self
