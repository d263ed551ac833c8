"""What is refused before anything starts, and the codes that say so."""

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.integration.stress.program import Program

NOBODY = "127.255.255.253"
WHOLE = ("run", "BasicTimeSeries", "--host", NOBODY, "-d", "3s", "--rate", "100")
USAGE, UNREACHABLE = 2, 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("run",), "Missing required"),
        (("run", "BasicTimeSeries", "-d", "3s"), "--rate"),
        (("run", "BasicTimeSeries", "--rate", "100"), "--duration"),
        (("run", "NoSuchWorkload", "-d", "3s", "--rate", "100"), "BasicTimeSeries"),
        ((*WHOLE, "--frobnicate"), "--frobnicate"),
        ((*WHOLE[:-1], "0"), "--rate must be above 0"),
        ((*WHOLE[:-1], "many"), "20k, 100M"),
        ((*WHOLE, "-c", "0"), "-c must be"),
        ((*WHOLE, "-t", "0"), "-t must be"),
        ((*WHOLE, "-r", "1.5"), "-r must be"),
        ((*WHOLE, "--pg", "zipf"), "--pg must be one of"),
        ((*WHOLE, "--cl", "MOST"), "--cl"),
        ((*WHOLE, "--keyspace", "a; DROP"), "--keyspace"),
        ((*WHOLE, "--response-time-warmup", "3s"), "shorter than -d"),
        ((*WHOLE, "--hdr", "/no/such/folder/m.hdr"), "/no/such/folder"),
        (("frobnicate",), "frobnicate"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_refused_with_a_reason(program: Program, options: Any, said: str) -> None:
    ended = program.run(*options)
    assert ended.returncode == USAGE
    assert said in ended.stderr
    assert "\tat " not in ended.stderr


@pytest.mark.parametrize(
    ("options", "said"), [(("inspect", "--jmx-port", "here"), "not a port"), (("probe",), "--host")]
)
def test_the_node_tool_refuses_what_makes_no_sense_with_a_reason(node_tool: Program, options: Any, said: str) -> None:
    ended = node_tool.run(*options)
    assert ended.returncode == USAGE
    assert said in ended.stderr


def test_a_refused_command_line_leaves_no_file(program: Program, tmp_path: Path) -> None:
    ended = program.run(*WHOLE, "--response-time-warmup", "1h", "--summary", str(tmp_path / "summary.json"))
    assert ended.returncode == USAGE
    assert list(tmp_path.iterdir()) == []


def test_help_names_every_option_of_the_published_command_line(program: Program) -> None:
    ended = program.run("run", "--help")
    assert ended.returncode == 0
    for option in (
        "-d",
        "-p",
        "-c",
        "--pg",
        "-t",
        "-r",
        "--rate",
        "--populate",
        "--response-time-warmup",
        "--csv",
        "--hdr",
    ):
        assert option in ended.stdout


def test_a_database_that_is_not_there_is_unreachable(load: Callable[..., Any], tmp_path: Path) -> None:
    class NoPlaces:
        address = NOBODY

    ended, files = load(NoPlaces, "-d", "3s", "--rate", "100")
    assert ended.returncode == UNREACHABLE
    assert f"cannot connect to [/{NOBODY}:9042]" in ended.stderr
    summary = files.summary
    assert (summary["complete"], summary["exit_code"], summary["run"]) == (False, UNREACHABLE, None)
    assert NOBODY in summary["reason"]


@pytest.mark.parametrize(
    ("host", "within", "said"),
    [
        ("no-such-host.invalid", NOBODY, "cannot connect to [no-such-host.invalid"),
        (NOBODY, "no-such-host.invalid", "UnknownHostException no-such-host.invalid"),
        (NOBODY, "10.0.0.0/many", "10.0.0.0/many is no network such as 10.0.0.0/24"),
    ],
)
def test_a_database_at_no_address_is_unreachable(program: Program, host: str, within: str, said: str) -> None:
    load = ("run", "BasicTimeSeries", "-d", "3s", "--rate", "100")
    ended = program.run(*load, "--host", host, "--nodes-within", within)
    assert ended.returncode == UNREACHABLE
    assert said in ended.stderr
    assert "\tat " not in ended.stderr


def test_nodes_that_do_not_come_in_time_are_named(node_tool: Program) -> None:
    ended = node_tool.run("probe", "--host", NOBODY, "--timeout", "1s")
    assert ended.returncode == UNREACHABLE
    assert '"ready":false' in ended.stdout
    assert f"{NOBODY} does not listen on port 9042" in ended.stdout


def test_a_jmx_port_without_a_jvm_is_said(node_tool: Program) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ended = node_tool.run("inspect", "--jmx-port", str(port))
    assert ended.returncode == UNREACHABLE
    assert '"error":"no answer from the JMX port' in ended.stdout
