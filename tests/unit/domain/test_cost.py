from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plimsoll.domain.cluster import Cluster, ClusterId, HostInfo
from plimsoll.domain.cost import HostRate, Tariff, cost_until

BEGAN = datetime(2026, 1, 31, 12, tzinfo=UTC)
KEY = ClusterId(campaign_id="azul", name="g1-040k-r3/1")


def host(name: str, usd: Any, since: Any = BEGAN) -> Any:
    return HostInfo(name=name, role="load" if name == "load" else "node", address="", since=since, usd_per_hour=usd)


def cluster(*hosts: Any) -> Any:
    return Cluster(
        id=KEY, owner="me", provider="ec2", hosts=hosts, created_at=BEGAN, expires_at=BEGAN + timedelta(hours=9)
    )


def tariff(node: float | None, load: float | None, vcpus: int | None = 8) -> Tariff:
    rates = [HostRate(kind=kind, vcpus=vcpus, usd_per_hour=usd) for kind, usd in (("r5d", node), ("c5", load))]
    return Tariff(node=rates[0], load=rates[1], source="a table")


def test_each_host_costs_from_its_own_start() -> None:
    late = host("node2", 0.6, BEGAN + timedelta(hours=1))
    cost = cost_until(cluster(host("node1", 0.6), late, host("load", 0.3)), BEGAN + timedelta(hours=2))
    assert cost.usd == pytest.approx(2 * 0.6 + 0.6 + 2 * 0.3)
    assert cost.host_seconds == 5 * 3600


def test_the_first_minute_is_paid_for_whole() -> None:
    cost = cost_until(cluster(host("load", 60.0)), BEGAN + timedelta(seconds=5))
    assert cost.usd == pytest.approx(1.0)


def test_hosts_without_price_or_start_cost_nothing() -> None:
    cost = cost_until(cluster(host("node1", None), host("load", 5.0, None)), BEGAN + timedelta(hours=2))
    assert (cost.usd, cost.host_seconds) == (0.0, 7200)


def test_a_tariff_adds_up_a_cluster() -> None:
    assert tariff(0.576, 0.34).usd_per_cluster_hour(3) == pytest.approx(2.068)
    assert tariff(0.576, 0.34).vcpus(3) == 32


def test_what_is_not_known_is_not_added_up() -> None:
    assert tariff(None, 0.34).usd_per_cluster_hour(3) is None
    assert tariff(0.5, None).usd_per_cluster_hour(3) is None
    assert tariff(0.5, 0.5, vcpus=None).vcpus(3) is None
