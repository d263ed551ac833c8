"""What a definition says of machines to be looked at, and what is told of those that can't be."""

from contextlib import nullcontext
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import pytest

from plimsoll.adapters.external.endpoint_options import read_options
from plimsoll.adapters.external.options import Observe
from plimsoll.adapters.hosts.reached import Target
from plimsoll.adapters.products.external import ExternalProduct
from plimsoll.adapters.providers.external import Observers
from plimsoll.adapters.providers.external.observing import observed_hosts
from plimsoll.adapters.providers.ssh.execution import Answer
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.hosts.cluster import ClusterId, HostInfo
from plimsoll.domain.text.errors import HostError, ProviderError
from plimsoll.ports.product import Evidence

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHNvbWUga2V5IG9mIHRoaXJ0eS10d28gYnl0ZXMhIQ=="
HOSTS = [{"address": f"10.0.0.{number}", "host_key": KEY} for number in (1, 2)]
CELL = ClusterId(campaign_id="staging-1", name="cell/1")
WRITTEN = {"ssh": "staging_ssh", "hosts": HOSTS, "runs_as": "cassandra"}


def observe(**changes: Any) -> Observe:
    return Observe.model_validate({**WRITTEN, **changes})


def spec(nodes: int = 2) -> HostsSpec:
    return HostsSpec("a", {}, nodes=nodes, node_hosts=0, load_hosts=1, load_heap="1G", max_parallel=1)


@dataclass
class Shell:
    """Machines by address: what the program says there, or what keeps it from running."""

    said: dict[str, Answer | HostError]

    def to(self, target: Target) -> Any:
        answer = self.said[target.address]

        def execute(line: str, **_: object) -> Answer:
            if isinstance(answer, HostError):
                raise answer
            return answer

        return SimpleNamespace(execute=execute, delivering=nullcontext(), delivered=set())


def problems(spec: HostsSpec, **said: Answer | HostError) -> list[str]:
    machines = {host["address"]: answer for host, answer in zip(HOSTS, said.values(), strict=True)}
    found = Observers(lambda: cast(Any, Shell(machines))).problems(spec, observe())
    return [f"{one.where}: {one.what}" for one in found]


FINE = Answer(0, b"", b"")


def test_what_is_in_the_way_is_told_at_its_machine() -> None:
    silent = HostError("does not answer", where="host 10.0.0.2")
    assert problems(spec(), first=Answer(0, b"/l can't be read\nno room\n", b""), second=silent) == [
        "provider.options.observe.hosts[0]: /l can't be read",
        "provider.options.observe.hosts[0]: no room",
        "provider.options.observe.hosts[1]: host 10.0.0.2: does not answer",
    ]


def test_a_machine_without_python_is_told() -> None:
    told = problems(spec(), first=FINE, second=Answer(127, b"", b"sh: python3: not found"))
    assert told == ["provider.options.observe.hosts[1]: can't be looked at: sh: python3: not found"]


def test_more_machines_than_nodes_are_refused() -> None:
    assert problems(spec(nodes=1), first=FINE, second=FINE) == [
        "provider.options.observe.hosts: are 2 machines, and the definition says 1 node"
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"hosts": []},
        {"runs_as": ""},
        {"runs_as": "a; b"},
        {"gc_log": "gc.log"},
        {"logs": ["/var/log/$(reboot)"]},
        {"log": {"path": "/var/log/x", "of": "postgresql"}},
        {"folder": "/dev/shm/.."},
    ],
)
def test_what_it_may_not_say_is_told_at_its_place(changes: dict[str, Any]) -> None:
    cql: dict[str, Any] = {"contact_points": ["10.0.0.1"], "data_centre": "dc1", "keyspace": "bench"}
    found = read_options({**cql, "observe": {**WRITTEN, **changes}})
    assert isinstance(found, list)
    [key] = changes
    assert all(f"observe.{key}" in one.where for one in found)


def test_logs_are_kept_under_names_of_their_own() -> None:
    logs = ["/var/log/a/x.log*", "/var/log/b/x.log"]
    known = observe(gc_log="/g/gc.log.*", log={"path": "/s.log", "of": "cassandra"}, logs=logs)
    assert known.followed == {
        "gc.log": "/g/gc.log.*",
        "database.log": "/s.log",
        "1-x.log": "/var/log/a/x.log*",
        "2-x.log": "/var/log/b/x.log",
    }


def product(**changes: Any) -> Any:
    cql: dict[str, Any] = {"contact_points": ["10.0.0.1"], "data_centre": "dc1", "keyspace": "bench"}
    made = ExternalProduct(cast(Any, None), cast(Any, None), {"cassandra": Evidence()})
    observed: dict[str, Any] = {"observe": {**WRITTEN, **changes}} if changes else {}
    return made.at({**cql, **observed})


def test_its_logs_are_those_of_one_process_and_without_any_there_is_none() -> None:
    assert product().processes(None) == product(logs=[]).processes(None) == ()
    [process] = product(gc_log="/g/gc.log").processes(None)
    assert (process.name, process.log, process.gc_log, process.files) == ("database", "", "gc.log", ("logs/*",))


def test_facts_of_machines_do_not_tell_them_apart() -> None:
    hosts = [{**host, "facts": {"machine": "R650", "rack": "7"}} for host in HOSTS]
    assert [info.facts for info in observed_hosts(observe(hosts=hosts))] == 2 * [{"rack": "7", "runs_as": "cassandra"}]


def test_a_machine_that_lets_nobody_look_keeps_no_cluster_from_being_destroyed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    refused = HostError("its host key is not the expected one", where="host 10.0.0.2")
    Observers(lambda: cast(Any, Shell({host["address"]: refused for host in HOSTS}))).clean(CELL, observe())
    assert [record.getMessage() for record in caplog.records] == 4 * [
        f"what {CELL} has there stays until its time is over: {refused}"
    ]


def test_a_machine_that_is_not_named_any_more_is_told() -> None:
    cluster = cast(Any, SimpleNamespace(id=CELL))
    gone = HostInfo(name="node1", role="observed", address="10.0.0.9")
    with pytest.raises(ProviderError, match=r"does not name the machine 10\.0\.0\.9 any more"):
        Observers(lambda: cast(Any, Shell({}))).host(cluster, gone, [observe()])
