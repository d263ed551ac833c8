"""What a definition says of machines to be looked at, and what is told of those that can't be."""

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from plimsoll.adapters.external import Observe, read_options
from plimsoll.adapters.hosts.following import CUT
from plimsoll.adapters.products.external import ExternalProduct
from plimsoll.adapters.products.nodes.node_process import UnreadLogs
from plimsoll.adapters.providers.external import Observers
from plimsoll.domain.campaign.specs import HostsSpec
from plimsoll.domain.text.errors import Problem

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHNvbWUga2V5IG9mIHRoaXJ0eS10d28gYnl0ZXMhIQ=="
HOSTS = [{"address": f"10.0.0.{number}", "host_key": KEY} for number in (1, 2)]
WRITTEN = {"ssh": "staging_ssh", "hosts": HOSTS, "runs_as": "cassandra"}


def observe(**changes: Any) -> Observe:
    return Observe.model_validate({**WRITTEN, **changes})


def spec(nodes: int = 2, max_parallel: int = 1) -> HostsSpec:
    return HostsSpec("a", {}, nodes=nodes, node_hosts=0, load_hosts=1, load_heap="1G", max_parallel=max_parallel)


@dataclass
class Ssh:
    """The provider of hosts over SSH, which says this of them."""

    said: list[Problem]
    asked: list[HostsSpec] = field(default_factory=list)

    def check(self, spec: HostsSpec) -> list[Problem]:
        self.asked.append(spec)
        return self.said


def problems(said: list[Problem], spec: HostsSpec) -> list[str]:
    ssh = Ssh(said)
    found = Observers(lambda: cast(Any, ssh), lambda: cast(Any, None)).problems(spec, observe())
    assert [(one.nodes, one.load_hosts) for one in ssh.asked] == [(0, 2)]
    return [f"{one.where}: {one.what}" for one in found]


def test_a_machine_that_can_not_be_reached_is_told_at_its_place() -> None:
    there = "provider.options.groups.observed"
    said = [Problem(f"{there}.load2", "is silent"), Problem("provider.options.connection", "is unknown")]
    assert problems(said, spec()) == [
        "provider.options.observe.hosts[1]: is silent",
        "provider.options.observe.connection: is unknown",
    ]


def test_more_machines_than_nodes_and_cells_at_once_are_refused() -> None:
    told = problems([Problem("provider.options.groups.observed.load", "is silent")], spec(nodes=1, max_parallel=2))
    assert told == [
        "provider.options.observe.hosts: are 2 machines, and the definition says 1 node",
        "max_parallel: is 2, and cells at once would be looked at on the same machines",
        "provider.options.observe.hosts[0]: is silent",
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
    made = ExternalProduct(cast(Any, None), cast(Any, None), {"cassandra": UnreadLogs()})
    observed: dict[str, Any] = {"observe": {**WRITTEN, **changes}} if changes else {}
    return made.at({**cql, **observed})


def test_its_logs_are_those_of_one_process_and_without_any_there_is_none() -> None:
    assert product().processes(None) == product(logs=[]).processes(None) == ()
    [process] = product(gc_log="/g/gc.log").processes(None)
    assert (process.name, process.log, process.gc_log, process.files) == ("database", "", "gc.log", ("logs/*",))


def test_a_log_of_which_only_a_part_was_taken_is_told() -> None:
    evidence = product(log={"path": "/s.log", "of": "cassandra"}).evidence
    [remark] = evidence.remarks("database", f"INFO\n{CUT}\n", None)
    assert "more than 64 MiB were written to this log" in remark
    assert evidence.remarks("database", "INFO\n", None) == []
