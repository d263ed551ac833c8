import json
from datetime import UTC, datetime
from typing import Any

import pytest

from plimsoll.adapters.providers.ec2.instance_types import Ec2Tariffs, from_answer, from_table
from plimsoll.adapters.providers.ec2.options import Ec2Options
from plimsoll.domain.text.errors import SecretError
from plimsoll.ports.secrets import AwsAccess, SshIdentity

AT = datetime(2026, 1, 31, tzinfo=UTC)


class NoAccount:
    """Implements the Secrets port where there is nothing."""

    def ssh_identity(self, connection_id: str) -> SshIdentity:
        raise SecretError("no key")

    def aws(self, connection_id: str) -> AwsAccess:
        raise SecretError("no account")


def product(usd: Any, vcpu: str = "8", unit: str = "Hrs") -> str:
    dimension = {"unit": unit, "pricePerUnit": {"USD": usd}}
    terms = {"OnDemand": {"a": {"priceDimensions": {"b": dimension}}}}
    return json.dumps({"product": {"attributes": {"vcpu": vcpu}}, "terms": terms})


def test_the_table_has_the_published_campaigns_types_and_says_its_date() -> None:
    rate, source = from_table("r5d.2xlarge", "us-east-1", "default")
    assert (rate.usd_per_hour, rate.vcpus) == (0.576, 8)
    assert from_table("c5.2xlarge", "us-east-1", "default")[0].usd_per_hour == 0.34
    assert "price table of 20" in source


@pytest.mark.parametrize(
    ("kind", "region", "tenancy"),
    [
        ("r5d.2xlarge", "eu-west-1", "default"),
        ("m99.huge", "us-east-1", "default"),
        ("c5.2xlarge", "us-east-1", "dedicated"),
    ],
)
def test_a_price_that_nobody_knows_is_none_and_says_how_to_give_it(kind: str, region: str, tenancy: str) -> None:
    rate, source = from_table(kind, region, tenancy)
    assert rate.usd_per_hour is None
    assert "provider.options.prices" in source


def test_the_first_on_demand_price_of_an_answer_counts() -> None:
    products = [product("0.0000000000"), product("0.5760000000"), product("9", unit="Quantity")]
    found = from_answer("r5d.2xlarge", products, AT)
    assert found is not None
    rate, source = found
    assert (rate.vcpus, rate.usd_per_hour) == (8, 0.576)
    assert source == "AWS Pricing API, asked on 2026-01-31"


def test_an_answer_without_a_price_is_none() -> None:
    assert from_answer("r5d.2xlarge", [], AT) is None
    assert from_answer("r5d.2xlarge", [product("0")], AT) is None


def test_where_the_api_is_out_of_reach_the_table_counts(raw_options: dict[str, Any]) -> None:
    tariff = Ec2Tariffs(NoAccount()).of_options(Ec2Options.model_validate(raw_options))
    assert tariff.usd_per_cluster_hour(3, 1) == pytest.approx(2.068)
    assert tariff.vcpus(3, 1) == 32
    assert tariff.source.count("price table") == 1


def test_the_users_own_prices_come_first(raw_options: dict[str, Any]) -> None:
    options = Ec2Options.model_validate({**raw_options, "prices": {"r5d.2xlarge": 0.4}})
    tariff = Ec2Tariffs(NoAccount()).of_options(options)
    assert (tariff.node.usd_per_hour, tariff.load.usd_per_hour) == (0.4, 0.34)
    assert "provider.options.prices of the definition; price table" in tariff.source
