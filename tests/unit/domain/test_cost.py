from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.hosts.cost import HostRate, Paid, Span, Tariff, lacks_price, shared, total

BEGAN = datetime(2026, 1, 31, 12, tzinfo=UTC)


def host(name: str, usd: Any, since: Any = BEGAN) -> Any:
    return HostInfo(name=name, role="load" if name == "load" else "node", address="", since=since, usd_per_hour=usd)


def tariff(node: float | None, load: float | None, vcpus: int | None = 8) -> Tariff:
    rates = [HostRate(kind=kind, vcpus=vcpus, usd_per_hour=usd) for kind, usd in (("r5d", node), ("c5", load))]
    return Tariff(node=rates[0], load=rates[1], source="a table")


def test_each_host_costs_from_its_own_start() -> None:
    late = host("node2", 0.6, BEGAN + timedelta(hours=1))
    cost = total([host("node1", 0.6), late, host("load", 0.3)], BEGAN + timedelta(hours=2))
    assert cost.usd == pytest.approx(2 * 0.6 + 0.6 + 2 * 0.3)
    assert cost.host_seconds == 5 * 3600


def test_the_first_minute_is_paid_for_whole() -> None:
    cost = total([host("load", 60.0)], BEGAN + timedelta(seconds=5))
    assert cost.usd == pytest.approx(1.0)


def test_hosts_without_price_or_start_cost_nothing() -> None:
    cost = total([host("node1", None), host("load", 5.0, None)], BEGAN + timedelta(hours=2))
    assert (cost.usd, cost.host_seconds) == (0.0, 7200)


def test_one_host_that_is_paid_for_without_a_price_makes_the_cost_unknown() -> None:
    assert lacks_price([host("node1", 0.6), host("load", None)])
    assert not lacks_price([host("node1", 0.6), host("load", None, None)])


def test_a_tariff_adds_up_a_cluster() -> None:
    assert tariff(0.576, 0.34).usd_per_cluster_hour(3, 1) == pytest.approx(2.068)
    assert tariff(0.576, 0.34).vcpus(3, 1) == 32


def test_what_is_not_known_is_not_added_up() -> None:
    assert tariff(None, 0.34).usd_per_cluster_hour(3, 1) is None
    assert tariff(0.5, None).usd_per_cluster_hour(3, 1) is None
    assert tariff(0.5, 0.5, vcpus=None).vcpus(3, 1) is None


def used(cell: str, hours: float, until: float | None) -> Span:
    key = AttemptKey(campaign_id="azul", cell_id=cell, attempt=1)
    end = None if until is None else BEGAN + timedelta(hours=until)
    return Span(key=key, since=BEGAN + timedelta(hours=hours), until=end)


def by_cell(shares: Mapping[AttemptKey, Paid]) -> dict[str, float]:
    return {key.cell_id: share.usd for key, share in shares.items()}


def test_kept_hosts_are_shared_out_by_time_and_the_rest_is_idle() -> None:
    hosts = [host("node1", 2.0), host("load", 1.0)]
    shares, idle = shared(hosts, [used("a", 0, 2), used("b", 3, 4)], BEGAN + timedelta(hours=6))
    assert by_cell(shares) == pytest.approx({"a": 6.0, "b": 3.0})
    assert (idle.usd, idle.host_seconds) == (pytest.approx(9.0), 2 * 3 * 3600)


def test_a_use_that_lasts_goes_up_to_now_and_one_that_ended_before_its_hosts_came_costs_nothing() -> None:
    late = host("node1", 1.0, BEGAN + timedelta(hours=2))
    shares, idle = shared([late], [used("a", 0, 1), used("b", 1, None)], BEGAN + timedelta(hours=3))
    assert by_cell(shares) == pytest.approx({"a": 0.0, "b": 1.0})
    assert idle.usd == 0


def test_a_host_that_has_ended_costs_nobody_any_more() -> None:
    ended = host("node1", 1.0).model_copy(update={"until": BEGAN + timedelta(hours=1)})
    shares, idle = shared([ended], [used("a", 0, 3)], BEGAN + timedelta(hours=5))
    assert (by_cell(shares), idle.usd) == ({"a": 1.0}, 0)


def test_two_uses_of_one_attempt_are_one_share() -> None:
    shares, idle = shared([host("node1", 1.0)], [used("a", 0, 1), used("a", 1, 2)], BEGAN + timedelta(hours=2))
    assert (by_cell(shares), idle.usd) == ({"a": 2.0}, 0)


def test_the_parts_of_a_first_minute_are_the_whole() -> None:
    shares, idle = shared([host("node1", 60.0)], [used("a", 0, 0)], BEGAN + timedelta(seconds=5))
    assert by_cell(shares)["a"] + idle.usd == pytest.approx(1.0)
