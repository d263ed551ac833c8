"""A database by the commands of a definition, without a program behind them."""

import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.scripted_host import ScriptedHost
from tests.support.resolved import only_part

from plimsoll.adapters.products.command import CommandDatabase
from plimsoll.domain.campaign.resolve import product_spec, resolve, variant_spec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.text.errors import LASTS, DeployError
from plimsoll.ports.host import CommandResult, JobStatus

COMMAND = {
    "prepare": ["mkdir {data}", "{bin}/init --at={data} '--title=a {size}'"],
    "run": "{bin}/serve --at {data} --listen {address} --peers {addresses} --id {node}",
    "ready": "{bin}/ping {address}",
    "version": "{bin}/serve --version",
}
HOUR = timedelta(hours=1)


def define(command: dict[str, Any] | None = None, **variant: Any) -> Definition:
    return Definition.model_validate(
        {
            "name": "mine",
            "title": "Mine",
            "system": {
                "database": "command",
                "version": "1.2",
                "nodes": 2,
                "settings": {"bin": "/opt/mine", "size": 1},
                "command": {**COMMAND, **(command or {})},
            },
            "variants": [{"id": "v", "settings": {"size": "x; touch /tmp/owned"}, **variant}],
            "loads": ["1000/s"],
            "workload": {"name": "Mine"},
            "timing": {"duration": "20s", "warmup": "10s"},
        }
    )


@pytest.fixture
def product() -> CommandDatabase:
    return CommandDatabase(SteppingClock())


def saying(said: str, *, ready: int = 0, lacking: str = "") -> Callable[[Sequence[str]], CommandResult]:
    """Return what a node answers: its version, whether it is ready, and the programs that it lacks."""

    def answer(argv: Sequence[str]) -> CommandResult:
        if argv[0] == "/bin/sh":
            return CommandResult(0, lacking, "")
        return CommandResult(0, f"{said}\n", "") if argv[-1] == "--version" else CommandResult(ready, "", "")

    return answer


@pytest.fixture
def nodes(tmp_path: Path) -> list[ScriptedHost]:
    infos = [HostInfo(name=f"node{number}", role="node", address=f"127.9.9.{number}") for number in (1, 2)]
    hosts = [ScriptedHost(tmp_path / info.name, info) for info in infos]
    for host in hosts:
        host.command = saying("mine 1.2")
    return hosts


def deploy(product: CommandDatabase, nodes: list[ScriptedHost], **command: Any) -> None:
    own = define(command)
    product.deploy(variant_spec(only_part(own), own.variants[0]), nodes, nodes[0], HOUR)


def script(host: ScriptedHost) -> list[str]:
    return host.read_tail(host.root / "command" / "start.sh", max_bytes=10_000).splitlines()


def told(product: CommandDatabase, own: Definition) -> list[tuple[str, str]]:
    return [(one.where, one.what) for one in product.check(product_spec(resolve(own), "command"))]


def test_each_node_starts_by_its_commands_in_which_every_value_stays_one_word(
    product: CommandDatabase, nodes: list[ScriptedHost]
) -> None:
    deploy(product, nodes)
    data = nodes[1].root / "command" / "data"
    assert script(nodes[1]) == [
        "#!/bin/sh",
        "set -e",
        f"mkdir {data}",
        f"/opt/mine/init --at={data} '--title=a x; touch /tmp/owned'",
        f"exec /opt/mine/serve --at {data} --listen 127.9.9.2 --peers 127.9.9.1,127.9.9.2 --id 2",
    ]
    assert nodes[1].commands[1:] == [["/opt/mine/ping", "127.9.9.2"], ["/opt/mine/serve", "--version"]]
    [job] = nodes[1].jobs.values()
    assert (job.id, job.owns, job.expires) == ("command", data, HOUR)


def test_a_node_starts_once_the_one_before_is_ready(product: CommandDatabase, nodes: list[ScriptedHost]) -> None:
    asked: list[bool] = []

    def answer(argv: Sequence[str]) -> CommandResult:
        if argv[0] != "/opt/mine/ping":
            return saying("mine 1.2")(argv)
        asked.append("command" in nodes[1].jobs)
        return CommandResult(0 if len(asked) == 3 else 2, "", "")

    nodes[0].command = answer
    deploy(product, nodes)
    assert asked == [False, False, False]
    assert "command" in nodes[1].jobs


def test_a_node_that_ends_or_is_never_ready_is_told_with_what_it_said(
    product: CommandDatabase, nodes: list[ScriptedHost]
) -> None:
    first = nodes[0]
    first.command = saying("mine 1.2", ready=2)
    first.write(first.root / "jobs" / "command.log", "could not bind\n")
    with pytest.raises(DeployError, match=r"was not ready at 12:05:\d\d UTC: (.|\n)*could not bind"):
        deploy(product, nodes)
    first.statuses["command"] = JobStatus("exited", 1)
    with pytest.raises(DeployError, match=r"ended before it was ready: node1 .* exit code 1(.|\n)*could not"):
        deploy(product, nodes)


@pytest.mark.parametrize(
    ("said", "write"),
    [
        ("mine 1.2.1", 'write `version: "1.2.1"`'),
        ("mine (Mine) 11.2 (Debian 11.2-3)", 'write `version: "11.2"`'),
        ("db version v7.0.15", 'write `version: "7.0.15"`'),
        ("mine_3 build 2026 of 8.4-MariaDB", 'write `version: "8.4"`'),
        ("mine 17devel", 'write `version: "17devel"`'),
        ("", "write a command `version` that prints it"),
    ],
)
def test_another_release_is_told_before_any_load_with_what_to_write_and_does_not_run_again_by_itself(
    product: CommandDatabase, nodes: list[ScriptedHost], said: str, write: str
) -> None:
    nodes[0].command = saying(said)
    with pytest.raises(DeployError) as told:
        deploy(product, nodes)
    told_it = f"told {said or 'nothing, with exit code 0'} on node1 (127.9.9.1), and the definition says 1.2"
    assert told_it in told.value.what
    assert told.value.mend == f"{write}, or install 1.2 there; {LASTS}"
    assert not nodes[1].jobs, "the second node was not started"


@pytest.mark.parametrize("said", ["mine (Mine) 1.2 (Debian 1.2-3)", "mine v1.2", "version=1.2, of 7.3"])
def test_the_declared_release_counts_if_the_node_tells_it(
    product: CommandDatabase, nodes: list[ScriptedHost], said: str
) -> None:
    for node in nodes:
        node.command = saying(said)
    deploy(product, nodes)
    found, _ = product.fingerprint(define().variants[0], nodes)
    assert (found.database, found.database_version) == ("command", "1.2")
    assert found.processes[0].jvm is None
    nodes[0].command = saying("mine 1.3")
    assert product.fingerprint(define().variants[0], nodes)[0].database_version == "mine 1.3"


def test_a_host_without_a_program_is_told_before_anything_starts(
    product: CommandDatabase, nodes: list[ScriptedHost]
) -> None:
    nodes[1].command = saying("mine 1.2", lacking="/opt/mine/ping\n")
    with pytest.raises(DeployError, match=r"there is no /opt/mine/ping on node2") as told:
        deploy(product, nodes)
    assert LASTS in told.value.mend
    assert not nodes[0].jobs
    assert nodes[0].commands[0][4:] == ("mkdir", "/opt/mine/init", "/opt/mine/serve", "/opt/mine/ping")


def test_what_is_kept_of_a_node_are_its_console_and_its_commands(product: CommandDatabase) -> None:
    [process] = product.processes(define().variants[0])
    assert process.files == ("jobs/command.log", "command/start.sh", "command/plan.json")


@pytest.mark.parametrize(
    ("command", "variant", "where", "what"),
    [
        ({"run": "serve {address} {sise}"}, {}, "system.command.run", "{sise} stands for nothing with variant 'v'"),
        ({"prepare": ["a {data}", "b {rate}"]}, {}, "system.command.prepare[1]", "{rate} stands for nothing"),
        ({"run": "serve --at {data}"}, {}, "system.command.run", "has no {address}"),
        ({}, {"settings": {"data": "x"}}, "variants[0] (v).settings.data", "{data} is folder of the node's data"),
        ({}, {"jvm": {"jdk": "openjdk-11", "collector": "G1", "heap": "1G"}}, "variants[0] (v).jvm", "its command"),
    ],
)
def test_what_can_not_run_is_told_at_its_key(
    product: CommandDatabase, command: dict[str, Any], variant: dict[str, Any], where: str, what: str
) -> None:
    [(place, fault)] = told(product, define(command, **variant))
    assert place == where
    assert fault.startswith(what)


def test_a_sound_definition_has_no_problems_and_one_without_commands_has(product: CommandDatabase) -> None:
    assert told(product, define()) == []
    bare = define().model_copy(update={"system": define().system.model_copy(update={"command": None})})
    assert told(product, bare) == [("system.command", "is missing: the database `command` is what it says")]


def test_commands_of_another_database_are_refused() -> None:
    content = json.loads(define().model_dump_json())
    with pytest.raises(ValueError, match="belongs to the database `command`, and this is cassandra"):
        Definition.model_validate({**content, "system": {**content["system"], "database": "cassandra"}})
