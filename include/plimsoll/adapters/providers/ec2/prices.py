"""Prices of instance types: the user's own, else those of the Pricing API, else a dated table in this package."""

import json
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from botocore.exceptions import BotoCoreError, ClientError

from plimsoll.adapters.aws.renewing import RenewedClient
from plimsoll.adapters.providers.ec2.cloud import Answer
from plimsoll.adapters.providers.ec2.options import Ec2Options, read_options
from plimsoll.domain.cost import HostRate, Tariff
from plimsoll.domain.errors import SecretError
from plimsoll.domain.specs import HostsSpec
from plimsoll.ports.secrets import Secrets

# The Pricing API lives in few regions and speaks for all.
_PRICING_REGION = "us-east-1"
_REACH_S = 3.0
# Long enough that a page does not wait for an API out of reach each time, short enough that access is soon noticed.
_WITHOUT_S = 300.0


@dataclass(frozen=True)
class Rate:
    """The price of an instance type in a region. `source` gives its origin and date."""

    vcpus: int | None
    usd_per_hour: float | None
    source: str


class Ec2Tariffs:
    """An implementation of the Tariffs port. A process asks for a price once, and again five minutes after a lack."""

    def __init__(self, secrets: Secrets) -> None:
        self._known: dict[tuple[str, str, str, str], Rate] = {}
        self._had_none_at: dict[tuple[str, str, str, str], float] = {}
        self._client = cache(
            lambda connection: RenewedClient(lambda: secrets.aws(connection).client("pricing", _PRICING_REGION))
        )

    def tariff(self, spec: HostsSpec) -> Tariff:
        """Return the prices of its instance types. Raises ProviderError when its options can't be read."""
        return self.of_options(read_options(spec.options, f"definition {spec.name!r}"))

    def of_options(self, options: Ec2Options) -> Tariff:
        """Return the prices of these instance types in that region, with that tenancy."""
        node, load = (self._rate(options, options.instance_types.of(role)) for role in ("node", "load"))
        return Tariff(
            node=_host_rate(options.instance_types.node, node),
            load=_host_rate(options.instance_types.load, load),
            source="; ".join(dict.fromkeys((node.source, load.source))),
        )

    def _rate(self, options: Ec2Options, kind: str) -> Rate:
        listed = self._from_api(options, kind) or from_table(kind, options.region, options.tenancy)
        if kind in options.prices:
            return Rate(listed.vcpus, options.prices[kind], "provider.options.prices of the definition")
        return listed

    def _from_api(self, options: Ec2Options, kind: str) -> Rate | None:
        """Return the API's price; None where the API can't be reached or used, or has no such price."""
        asked = (options.connection, options.region, options.tenancy, kind)
        if asked not in self._known and time.monotonic() - self._had_none_at.get(asked, -_WITHOUT_S) >= _WITHOUT_S:
            rate = self._ask(options, kind)
            if rate is None:
                self._had_none_at[asked] = time.monotonic()
            else:
                self._known[asked] = rate
        return self._known.get(asked)

    def _ask(self, options: Ec2Options, kind: str) -> Rate | None:
        try:
            client, filters = self._client(options.connection), _filters(options, kind)
            if not _is_reachable(client().meta.endpoint_url):
                return None
            answer = client.ask(lambda pricing: pricing.get_products(ServiceCode="AmazonEC2", Filters=filters))
            return from_answer(answer["PriceList"], datetime.now(UTC))
        except (SecretError, ClientError, BotoCoreError):
            return None


def from_table(kind: str, region: str, tenancy: str) -> Rate:
    """Return the price in the package's own table; None where the table does not have it."""
    table = _table()
    shared = table["usd_per_hour"].get(region, {}) if tenancy == "default" else {}
    source = f"price table of {table['as_of']} ({table['terms']})"
    if kind not in shared:
        source = f"no price known for {kind} in {region}: give it in provider.options.prices"
    return Rate(table["vcpus"].get(kind), shared.get(kind), source)


def from_answer(price_list: list[Any], at: datetime) -> Rate | None:
    """Return the only on-demand price above zero in an answer of the Pricing API; None where there is none. Pure."""
    products = [json.loads(item) if isinstance(item, str) else item for item in price_list]
    for product in products:
        vcpus = product["product"]["attributes"].get("vcpu")
        for price in _hourly(product):
            return Rate(int(vcpus) if vcpus else None, price, f"AWS Pricing API, asked on {at:%Y-%m-%d}")
    return None


def _hourly(product: Answer) -> list[float]:
    terms = product.get("terms", {}).get("OnDemand", {}).values()
    dimensions = [dimension for term in terms for dimension in term["priceDimensions"].values()]
    prices = [float(one["pricePerUnit"].get("USD", 0)) for one in dimensions if one["unit"] == "Hrs"]
    return [price for price in prices if price > 0]


def _filters(options: Ec2Options, kind: str) -> list[dict[str, str]]:
    wanted = {
        "instanceType": kind,
        "regionCode": options.region,
        "operatingSystem": "Linux",
        "preInstalledSw": "NA",
        "licenseModel": "No License required",
        "capacitystatus": "Used",
        "tenancy": "Shared" if options.tenancy == "default" else "Dedicated",
    }
    return [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in wanted.items()]


def _is_reachable(url: str) -> bool:
    """Tell whether the API answers. Tested first, as a network that drops packets would delay a plan by minutes."""
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 443), _REACH_S):
            return True
    except OSError:
        return False


def _host_rate(kind: str, rate: Rate) -> HostRate:
    return HostRate(kind=kind, vcpus=rate.vcpus, usd_per_hour=rate.usd_per_hour)


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = json.loads(files(__package__).joinpath("prices.json").read_text(encoding="utf-8"))
    return table
