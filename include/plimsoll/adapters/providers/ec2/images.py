"""The machine image of a cell's hosts."""

from dataclasses import dataclass

from plimsoll.adapters.providers.ec2.cloud import Answer, Cloud
from plimsoll.adapters.providers.ec2.errors import explained
from plimsoll.adapters.providers.ec2.options import Ec2Options
from plimsoll.domain.errors import ProviderError


@dataclass(frozen=True)
class Image:
    """An AMI. `architecture` is AWS's name (x86_64, arm64); empty where AWS gives none."""

    id: str
    name: str
    architecture: str
    root_device: str


def find_image(cloud: Cloud, options: Ec2Options, known: str = "") -> Image:
    """Return the AMI that the options name, or that the SSM parameter contains.

    `known`: the AMI of the cluster's other hosts, which counts although the parameter may name a newer one. Raises
    ProviderError when there is none.
    """
    image_id = known or (options.image if options.image.startswith("ami-") else _from_parameter(cloud, options.image))
    images = cloud.call("describe_images", ImageIds=[image_id])["Images"]
    if not images:
        mend = "name an image of the region in provider.options.image: images differ by region"
        raise ProviderError(f"there is no image {image_id}", where=cloud.where, mend=mend)
    return _usable(images[0], cloud.where)


def _usable(found: Answer, where: str) -> Image:
    """Raise ProviderError for an image that can't be used with the hosts' own encrypted disk."""
    state, root = found.get("State", "available"), found.get("RootDeviceName", "")
    if state != "available":
        mend = "name another image in provider.options.image, or wait until this one is available"
        raise ProviderError(f"the image {found['ImageId']} is {state}", where=where, mend=mend)
    if not root:
        mend = "name an image in provider.options.image that is backed by EBS"
        raise ProviderError(f"the image {found['ImageId']} has no root device", where=where, mend=mend)
    return Image(found["ImageId"], found.get("Name", ""), found.get("Architecture", ""), root)


def _from_parameter(cloud: Cloud, name: str) -> str:
    with explained("ssm", f"{cloud.where}, parameter {name}"):
        value: str = cloud.client("ssm").get_parameter(Name=name)["Parameter"]["Value"]
        return value
