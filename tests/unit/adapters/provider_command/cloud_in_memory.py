"""Programs of a cloud in memory, which keep to the contract until a test lets them fail, lie or lose hosts."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Self

from plimsoll.adapters.providers.command.programs import Ended
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cluster import Cluster, ClusterId, ClusterRequest, HostInfo, Launch
from plimsoll.domain.text.errors import Problem
from plimsoll.ports.host import Host
from plimsoll.ports.provider import Places, Provider
from plimsoll.ports.secrets import AwsAccess, SshIdentity

HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE5N8wxHZJpLPgLa5BBnKcpAqB7CkkSkc4pGOMIUDRIW"

Fault = Callable[[Any], Ended | None]


@dataclass
class CloudInMemory:
    """Implements Programs. `faults`: by program, what the next calls answer instead; None: as they must."""

    hosts: list[dict[str, Any]] = field(default_factory=list)
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    always: dict[str, Fault] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    given: dict[str, Any] = field(default_factory=dict)

    def problem(self, name: str) -> str:
        return ""

    def run(self, argv: Sequence[str], given: bytes, limit: timedelta) -> Ended:
        name, asked = argv[0], json.loads(given)
        self.calls.append(name)
        self.given[name] = asked
        fault = self.faults[name].pop(0) if self.faults.get(name) else self.always.get(name)
        answer = fault(asked) if fault else None
        return answer or getattr(self, f"_{name}")(asked)

    def _launch(self, asked: Any) -> Ended:
        if not [host for host in self.hosts if host["tags"].get("plimsoll-token") == asked["token"]]:
            for host in asked["hosts"]:
                number = len(self.hosts) + 1
                self.hosts.append(
                    {
                        "id": f"i-{asked['token'][:4]}-{number}",
                        "name": host["name"],
                        "address": f"10.0.0.{number}",
                        "host_key": HOST_KEY,
                        "tags": asked["tags"],
                        "type": "small",
                        "usd_per_hour": 0.5,
                    }
                )
        return printed([host for host in self.hosts if host["tags"].get("plimsoll-token") == asked["token"]])

    def _list(self, asked: Any) -> Ended:
        return printed(self.hosts)

    def _end(self, asked: Any) -> Ended:
        self.hosts[:] = [host for host in self.hosts if not asked["tags"].items() <= host["tags"].items()]
        return Ended(0, b"", "")


def printed(hosts: list[dict[str, Any]]) -> Ended:
    return Ended(0, json.dumps({"hosts": hosts}).encode(), "")


def exits(code: int, words: str = "as the test wants it") -> Fault:
    return lambda _: Ended(code, b"", words)


class OverSsh(Provider):
    """Stands for the provider `ssh`: its leases are in memory. `ended` has what was cleaned."""

    name, is_local, keeps_hosts, replaces_hosts = "ssh", False, True, True

    def __init__(self) -> None:
        self.leases: dict[ClusterId, Cluster] = {}
        self.ended: list[ClusterId] = []
        self.places = Places()

    def at(self, places: Places) -> Self:
        self.places = places
        return self

    def check(self, spec: HostsSpec) -> Sequence[Problem]:
        return ()

    def ensure(self, request: ClusterRequest) -> Cluster:
        options: Any = request.options
        [group] = options["groups"]
        nodes = [("node", f"node{n}", host) for n, host in enumerate(group["nodes"], start=1)]
        loads = [("load", "load" if n == 1 else f"load{n}", host) for n, host in enumerate(loads_of(group), start=1)]
        hosts = tuple(
            HostInfo.model_validate({"name": name, "role": role, "address": host["address"], "facts": host["facts"]})
            for role, name, host in (*nodes, *loads)
        )
        self.leases[request.id] = Cluster(
            id=request.id,
            owner=request.owner,
            provider=self.name,
            hosts=hosts,
            created_at=request.expires_at - timedelta(hours=1),
            expires_at=request.expires_at,
        )
        return self.leases[request.id]

    def find(self, cluster_id: ClusterId) -> Cluster | None:
        return self.leases.get(cluster_id)

    def clusters(self) -> Sequence[Cluster]:
        return ()

    def destroy(self, cluster_id: ClusterId) -> None:
        self.leases.pop(cluster_id, None)
        self.ended.append(cluster_id)

    def host(self, cluster: Cluster, info: HostInfo, environment: str = "") -> Host:
        raise AssertionError("no host is used here")

    def clear(self, cluster: Cluster, keep: frozenset[str] = frozenset()) -> None:
        raise AssertionError("no host is cleared here")


def loads_of(group: Any) -> list[Any]:
    return [group["load"], *group["further_load_hosts"]]


@dataclass
class Records:
    """Implements the Launches port in memory."""

    known: dict[tuple[ClusterId, str], Launch] = field(default_factory=dict)

    def of(self, cluster_id: ClusterId) -> Sequence[Launch]:
        return sorted((one for (of, _), one in self.known.items() if of == cluster_id), key=lambda one: one.asked_at)

    def unsettled(self) -> Sequence[ClusterId]:
        return list(dict.fromkeys(of for of, _ in self.known))

    def note(self, launch: Launch) -> None:
        self.known[launch.id, launch.token] = launch


class Keys:
    """Implements the Secrets port with one key."""

    def __init__(self, private: str) -> None:
        self._private = private

    def ssh_identity(self, connection_id: str) -> SshIdentity:
        return SshIdentity("bench", self._private)

    def aws(self, connection_id: str) -> AwsAccess:
        raise AssertionError("nothing is asked of AWS")


class AnswersAtOnce:
    """Stands for hosts that let everybody in."""

    def await_hosts(self, hosts: Any, options: Any) -> None:
        """Return."""
