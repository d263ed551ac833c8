"""Instance types: the disks of their own and how hosts get them, the machine image, and the vCPU quotas of on-demand
instances, which Service Quotas names by family.

The names say which families each counts: EC2 User Guide, "On-Demand Instance quotas".

Prices of instance types: the user's own, else those of the Pricing API, else a dated table in this package.
"""

import json
import re
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.resources import files
from string import ascii_lowercase
from typing import Any
from urllib.parse import urlsplit

from botocore.exceptions import BotoCoreError, ClientError

from plimsoll.adapters.aws import RenewedClient
from plimsoll.adapters.providers.ec2.cloud import Answer, Cloud
from plimsoll.adapters.providers.ec2.errors import explained
from plimsoll.adapters.providers.ec2.options import ROLES, Ec2Options
from plimsoll.adapters.providers.requested import options_of_request
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cost import HostRate, Tariff
from plimsoll.domain.text.errors import ProviderError, SecretError
from plimsoll.ports.secrets import Secrets


@dataclass(frozen=True)
class InstanceStore:
    """The number of a type's own disks, and their size together in GB; 0 where AWS does not tell it.

    `is_mapped`: a host has only those that its launch maps to a device.
    """

    count: int = 0
    gigabytes: int = 0
    is_mapped: bool = False

    @property
    def letters(self) -> str:
        """Return the last letters of the mapped devices' names, after that of the system disk."""
        return ascii_lowercase[1 : 1 + self.count] if self.is_mapped else ""

    @property
    def mappings(self) -> list[dict[str, Any]]:
        """Return BlockDeviceMappings entries. EC2 gives NVMe disks in any case, others of older types only if named."""
        return [
            {"DeviceName": f"/dev/sd{letter}", "VirtualName": f"ephemeral{number}"}
            for number, letter in enumerate(self.letters)
        ]


@dataclass(frozen=True)
class Quota:
    code: str
    name: str


@dataclass(frozen=True)
class Image:
    """An AMI. `architecture` is AWS's name (x86_64, arm64); empty where AWS gives none."""

    id: str
    architecture: str
    root_device: str


def instance_store(described: Answer) -> InstanceStore:
    """Return the disks of an instance type, from its description by DescribeInstanceTypes."""
    info = described.get("InstanceStorageInfo") or {}
    disks = [(int(disk["Count"]), int(disk.get("SizeInGB", 0))) for disk in info.get("Disks", ())]
    count, gigabytes = sum(number for number, _ in disks), sum(number * size for number, size in disks)
    return InstanceStore(count, gigabytes, is_mapped=info.get("NvmeSupport") == "unsupported")


_STANDARD = Quota("L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances")
_G = Quota("L-DB2E81BA", "Running On-Demand G and VT instances")
# By the letters that a type's name begins with. Longer names than one letter are families of their own: inf1 is no i1.
_QUOTAS = {
    **dict.fromkeys(("a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z"), _STANDARD),
    "dl": Quota("L-6E869C2A", "Running On-Demand DL instances"),
    "f": Quota("L-74FC7D96", "Running On-Demand F instances"),
    "g": _G,
    "gr": _G,
    "hpc": Quota("L-F7808C92", "Running On-Demand HPC instances"),
    "inf": Quota("L-1945791B", "Running On-Demand Inf instances"),
    "p": Quota("L-417A185B", "Running On-Demand P instances"),
    "trn": Quota("L-2C3B7624", "Running On-Demand Trn instances"),
    "u": Quota("L-43DA4232", "Running On-Demand High Memory instances"),
    "vt": _G,
    "x": Quota("L-7295265B", "Running On-Demand X instances"),
}


def quota_of(instance_type: str) -> Quota | None:
    """Return the quota that limits instances of that type; None for an unknown family."""
    family = re.match(r"[a-z]+", instance_type)
    return _QUOTAS.get(family[0]) if family else None


def find_image(cloud: Cloud, options: Ec2Options, known: str = "") -> Image:
    """Return the AMI that the options name, or that the SSM parameter contains.

    `known`: the AMI of the cluster's other hosts, which counts although the parameter may name a newer one. Raises
    ProviderError when there is none, or it can't be used.
    """
    image_id = known or options.image
    if not image_id.startswith("ami-"):
        with explained("ssm", f"{cloud.where}, parameter {image_id}"):
            image_id = str(cloud.client("ssm").get_parameter(Name=image_id)["Parameter"]["Value"])
    images = cloud.call("describe_images", ImageIds=[image_id])["Images"]
    if not images:
        mend = "name an image of the region in provider.options.image: images differ by region"
        raise ProviderError(f"there is no image {image_id}", where=cloud.where, mend=mend)
    image = images[0]
    state, root = image.get("State", "available"), image.get("RootDeviceName", "")
    if state != "available":
        mend = "name another image in provider.options.image, or wait until this one is available"
        raise ProviderError(f"the image {image['ImageId']} is {state}", where=cloud.where, mend=mend)
    if not root:  # its hosts could have no encrypted disk of their own
        mend = "name an image in provider.options.image that is backed by EBS"
        raise ProviderError(f"the image {image['ImageId']} has no root device", where=cloud.where, mend=mend)
    return Image(image["ImageId"], image.get("Architecture", ""), root)


# The Pricing API lives in few regions and speaks for all.
_PRICING_REGION = "us-east-1"
_REACH_S = 3.0
# Long enough that a page does not wait for an API out of reach each time, short enough that access is soon noticed.
_WITHOUT_S = 300.0


_Sourced = tuple[HostRate, str]
"""The price of an instance type in a region, with its origin and date."""


class Ec2Tariffs:
    """An implementation of the Tariffs port. A process asks for a price once, and again five minutes after a lack."""

    def __init__(self, secrets: Secrets) -> None:
        self._known: dict[tuple[str, str, str, str], _Sourced] = {}
        self._had_none_at: dict[tuple[str, str, str, str], float] = {}
        self._client = cache(
            lambda connection: RenewedClient(lambda: secrets.aws(connection).client("pricing", _PRICING_REGION))
        )

    def tariff(self, spec: HostsSpec) -> Tariff:
        return self.of_options(options_of_request(Ec2Options, spec.options, f"definition {spec.name!r}"))

    def of_options(self, options: Ec2Options) -> Tariff:
        (node, of_node), (load, of_load) = (self._rate(options, options.instance_types.of(role)) for role in ROLES)
        return Tariff(node=node, load=load, source="; ".join(dict.fromkeys((of_node, of_load))))

    def _rate(self, options: Ec2Options, kind: str) -> _Sourced:
        rate, source = self._from_api(options, kind) or from_table(kind, options.region, options.tenancy)
        if kind in options.prices:
            own = rate.model_copy(update={"usd_per_hour": options.prices[kind]})
            return own, "provider.options.prices of the definition"
        return rate, source

    def _from_api(self, options: Ec2Options, kind: str) -> _Sourced | None:
        """Return the API's price; None where the API can't be reached or used, or has no such price."""
        key = (options.connection, options.region, options.tenancy, kind)
        if key not in self._known and time.monotonic() - self._had_none_at.get(key, -_WITHOUT_S) >= _WITHOUT_S:
            if rate := self._ask(options, kind):
                self._known[key] = rate
            else:
                self._had_none_at[key] = time.monotonic()
        return self._known.get(key)

    def _ask(self, options: Ec2Options, kind: str) -> _Sourced | None:
        try:
            client, filters = self._client(options.connection), _filters(options, kind)
            if not _is_reachable(client().meta.endpoint_url):
                return None
            answer = client.ask(lambda pricing: pricing.get_products(ServiceCode="AmazonEC2", Filters=filters))
            return from_answer(kind, answer["PriceList"], datetime.now(UTC))
        except (SecretError, ClientError, BotoCoreError):
            return None


def from_table(kind: str, region: str, tenancy: str) -> _Sourced:
    """Return the rate of the package's own table, without a price where the table has none."""
    table = _table()
    shared = table["usd_per_hour"].get(region, {}) if tenancy == "default" else {}
    source = f"price table of {table['as_of']} ({table['terms']})"
    if kind not in shared:
        source = f"no price known for {kind} in {region}: give it in provider.options.prices"
    return HostRate(kind=kind, vcpus=table["vcpus"].get(kind), usd_per_hour=shared.get(kind)), source


def from_answer(kind: str, price_list: list[Any], at: datetime) -> _Sourced | None:
    """Return the only on-demand price above zero in an answer of the Pricing API; None where there is none. Pure."""
    products = [json.loads(item) if isinstance(item, str) else item for item in price_list]
    for product in products:
        vcpus = product["product"]["attributes"].get("vcpu")
        for price in _hourly(product):
            rate = HostRate(kind=kind, vcpus=int(vcpus) if vcpus else None, usd_per_hour=price)
            return rate, f"AWS Pricing API, asked on {at:%Y-%m-%d}"
    return None


def _hourly(product: Answer) -> list[float]:
    terms = product.get("terms", {}).get("OnDemand", {}).values()
    dimensions = [dimension for term in terms for dimension in term["priceDimensions"].values()]
    prices = [float(dimension["pricePerUnit"].get("USD", 0)) for dimension in dimensions if dimension["unit"] == "Hrs"]
    return [price for price in prices if price > 0]


def _filters(options: Ec2Options, kind: str) -> list[dict[str, str]]:
    fields = {
        "instanceType": kind,
        "regionCode": options.region,
        "operatingSystem": "Linux",
        "preInstalledSw": "NA",
        "licenseModel": "No License required",
        "capacitystatus": "Used",
        "tenancy": "Shared" if options.tenancy == "default" else "Dedicated",
    }
    return [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in fields.items()]


def _is_reachable(url: str) -> bool:
    """Tell whether the API answers. Tested first, as a network that drops packets would delay a plan by minutes."""
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 443), _REACH_S):
            return True
    except OSError:
        return False


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = json.loads(files(__package__).joinpath("prices.json").read_text(encoding="utf-8"))
    return table
