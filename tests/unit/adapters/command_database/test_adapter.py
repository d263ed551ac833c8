"""A database by the commands of a definition, without a program behind them."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.scripted_host import ScriptedHost

from plimsoll.adapters.products.command import CommandDatabase
from plimsoll.domain.cluster import HostInfo
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import DeployError
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


@pytest.fixture
def nodes(tmp_path: Path) -> list[ScriptedHost]:
    infos = [HostInfo(name=f"node{number}", role="node", address=f"127.9.9.{number}") for number in (1, 2)]
    return [ScriptedHost(tmp_path / info.name, info) for info in infos]


def deploy(product: CommandDatabase, nodes: list[ScriptedHost], **command: Any) -> None:
    own = define(command)
    product.deploy(own, own.variants[0], nodes, nodes[0], HOUR)


def script(host: ScriptedHost) -> list[str]:
    return host.read_tail(host.root / "command" / "start.sh", max_bytes=10_000).splitlines()


def told(product: CommandDatabase, own: Definition) -> list[tuple[str, str]]:
    return [(one.where, one.what) for one in product.check(own)]


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
    assert nodes[1].commands == [["/opt/mine/ping", "127.9.9.2"]]
    [job] = nodes[1].jobs.values()
    assert (job.id, job.owns, job.expires) == ("command", data, HOUR)


def test_a_node_starts_once_the_one_before_is_ready(product: CommandDatabase, nodes: list[ScriptedHost]) -> None:
    asked: list[bool] = []

    def answer(_: object) -> CommandResult:
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
    first.command = lambda _: CommandResult(2, "", "")
    first.write(first.root / "jobs" / "command.log", "could not bind\n")
    with pytest.raises(DeployError, match=r"was not ready at 12:05:\d\d UTC: (.|\n)*could not bind"):
        deploy(product, nodes)
    first.statuses["command"] = JobStatus("exited", 1)
    with pytest.raises(DeployError, match=r"ended before it was ready: node1 .* exit code 1(.|\n)*could not"):
        deploy(product, nodes)


@pytest.mark.parametrize(
    ("said", "release"),
    [
        ("mine (Mine) 1.2 (Debian 1.2-3)", "1.2"),
        ("mine 1.2.1", "mine 1.2.1"),
        ("mine 11.2", "mine 11.2"),
        ("", "it told none"),
    ],
)
def test_the_declared_release_counts_if_the_node_tells_it(
    product: CommandDatabase, nodes: list[ScriptedHost], said: str, release: str
) -> None:
    deploy(product, nodes)
    nodes[0].command = lambda argv: CommandResult(0, f"{said}\n" if argv[-1] == "--version" else "", "")
    found, _ = product.fingerprint(define().variants[0], nodes)
    assert (found.database, found.database_version) == ("command", release)
    assert found.processes[0].jvm is None


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


def test_commands_of_a_database_that_plimsoll_starts_itself_are_refused() -> None:
    content = json.loads(define().model_dump_json())
    with pytest.raises(ValueError, match="is not for cassandra, which Plimsoll starts itself"):
        Definition.model_validate({**content, "system": {**content["system"], "database": "cassandra"}})
