"""Prices: the Pricing API's where it answers, the table's where it does not."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from tests.integration.ec2.watched_account import WatchedAccount

from plimsoll.adapters import aws
from plimsoll.adapters.providers.ec2 import Ec2Provider, Ec2Tariffs
from plimsoll.adapters.providers.ec2.options import Ec2Options
from plimsoll.ports.provider import Places


@pytest.fixture
def chosen(options: dict[str, Any]) -> Ec2Options:
    return Ec2Options.model_validate(options)


def product(usd: Any) -> str:
    dimensions = {"b": {"unit": "Hrs", "pricePerUnit": {"USD": usd}}}
    terms = {"OnDemand": {"a": {"priceDimensions": dimensions}}}
    return json.dumps({"product": {"attributes": {"vcpu": "8"}}, "terms": terms})


def test_the_apis_price_counts_and_is_asked_once(account: WatchedAccount, chosen: Ec2Options) -> None:
    account.answers = {"GetProducts": {"PriceList": [product("0.7000000000")]}}
    tariffs = Ec2Tariffs(account)
    for _ in range(3):
        tariff = tariffs.of_options(chosen)
    assert (tariff.node.usd_per_hour, tariff.load.usd_per_hour) == (0.7, 0.7)
    assert tariff.source.startswith("AWS Pricing API, asked on 20")
    assert account.called("GetProducts") == 2  # one a type


def test_an_api_that_failed_is_asked_again_but_not_for_every_look(
    account: WatchedAccount, chosen: Ec2Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("plimsoll.adapters.providers.ec2.instance_types.time", SimpleNamespace(monotonic=lambda: now))
    account.answers = {"GetProducts": {"PriceList": [product("0.7")]}}
    account.faults = {"GetProducts": ["AccessDeniedException"] * 2}
    tariffs = Ec2Tariffs(account)
    for _ in range(3):
        assert tariffs.of_options(chosen).source.startswith("price table of")
        now += 60
    assert account.called("GetProducts") == 2  # one a type
    now += 300
    assert tariffs.of_options(chosen).node.usd_per_hour == 0.7


def test_wherever_a_provider_looks_it_asks_once(provider: Ec2Provider) -> None:
    here, there = provider.at(Places()), provider.at(Places()).at(Places())
    assert here.tariffs is not None
    assert there.tariffs is here.tariffs


def test_refused_credentials_are_renewed_and_the_api_is_asked_again(
    account: WatchedAccount, chosen: Ec2Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aws, "YOUNG_S", 0.0)  # nobody need wait until a client is old enough
    account.answers = {"GetProducts": {"PriceList": [product("0.7")]}}
    account.faults = {"GetProducts": ["", "ExpiredTokenException"]}
    tariff = Ec2Tariffs(account).of_options(chosen)
    assert (tariff.node.usd_per_hour, tariff.load.usd_per_hour) == (0.7, 0.7)


def test_an_api_that_may_not_be_asked_is_done_without(account: WatchedAccount, chosen: Ec2Options) -> None:
    account.answers.clear()
    account.faults = {"GetProducts": ["AccessDeniedException"] * 2}
    assert Ec2Tariffs(account).of_options(chosen).source.startswith("price table of")


def test_an_api_out_of_reach_is_done_without(account: WatchedAccount, chosen: Ec2Options) -> None:
    account.endpoint = "http://127.0.0.1:1"
    tariff = Ec2Tariffs(account).of_options(chosen)
    assert tariff.node.usd_per_hour == 0.576
    assert account.called("GetProducts") == 0  # no call that would wait for a timeout
