"""Hosts that cost 1 USD an hour each, around those of another provider."""

from collections.abc import Sequence
from datetime import datetime
from typing import NoReturn, Self

import pytest

from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest, HostInfo
from plimsoll.domain.hosts.cost import HostRate, Tariff
from plimsoll.domain.text.errors import Problem, StoreError
from plimsoll.ports.controller import Clock
from plimsoll.ports.host import Host
from plimsoll.ports.provider import Places, Provider
from plimsoll.services.hosts import spending


class PaidProvider(Provider):
    """Implements the Provider port by the other one."""

    name = "instant"
    is_local = False
    keeps_hosts = True
    replaces_hosts = False

    def __init__(self, inner: Provider, clock: Clock) -> None:
        self._inner, self._clock = inner, clock
        self._begun: dict[ClusterId, datetime] = {}

    def at(self, places: Places) -> Self:
        return self

    def check(self, spec: HostsSpec) -> Sequence[Problem]:
        return self._inner.check(spec)

    def ensure(self, request: ClusterRequest) -> Cluster:
        self._begun.setdefault(request.id, self._clock.now())
        return self._priced(self._inner.ensure(request))

    def find(self, cluster_id: ClusterId) -> Cluster | None:
        found = self._inner.find(cluster_id)
        return found and self._priced(found)

    def why_gone(self, cluster_id: ClusterId) -> str:
        return self._inner.why_gone(cluster_id)

    def clusters(self) -> Sequence[Cluster]:
        return [self._priced(cluster) for cluster in self._inner.clusters()]

    def destroy(self, cluster_id: ClusterId) -> None:
        self._inner.destroy(cluster_id)

    def host(self, cluster: Cluster, info: HostInfo, environment: str = "") -> Host:
        return self._inner.host(cluster, info, environment)

    def clear(self, cluster: Cluster, keep: frozenset[str] = frozenset()) -> None:
        self._inner.clear(cluster, keep)

    def _priced(self, cluster: Cluster) -> Cluster:
        since = self._begun[cluster.id]
        hosts = [host.model_copy(update={"since": since, "usd_per_hour": 1.0}) for host in cluster.hosts]
        return cluster.model_copy(update={"hosts": tuple(hosts), "created_at": since})


class Prices:
    """Implements the Tariffs port: so much an hour for every host, or nobody knows."""

    def __init__(self, usd: float | None = 1.0) -> None:
        self._usd = usd

    def tariff(self, spec: HostsSpec) -> Tariff:
        rate = HostRate(kind="big", vcpus=8, usd_per_hour=self._usd)
        return Tariff(node=rate, load=rate, source="a price table of tests")


def hide_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the store fail whoever reads what a campaign has cost so far."""

    def away(*_: object) -> NoReturn:
        raise StoreError("the store is away")

    monkeypatch.setattr(spending, "ledger", away)
