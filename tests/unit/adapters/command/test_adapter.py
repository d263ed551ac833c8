"""Loads by the commands of a definition, without a program behind them."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.artefacts import EmptyArtefacts
from tests.fakes.scripted_host import ScriptedHost
from tests.support.resolved import only_part
from tests.unit.adapters.foreign_load.load_requests import definition, request

from plimsoll.adapters.generators.command import CommandGenerator
from plimsoll.domain.attempt.load_summary import BrokenRule
from plimsoll.domain.campaign.resolve import load_spec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.domain.text.errors import LASTS, LoadError
from plimsoll.ports.host import CommandResult, JobStatus

ARCHIVE = {"url": "https://example.org/tlp-stress.tgz", "sha256": "a" * 64}
WORKLOAD = {"name": "Mine", "rows": "10k", "table": "a b"}
RUN = "{archive}/bin/gen --rate {rate} -d {duration} --hosts={contact_points} '--title=a {workload}'"


@pytest.fixture
def generator(tmp_path: Path) -> CommandGenerator:
    return CommandGenerator(EmptyArtefacts(tmp_path))


@pytest.fixture
def host(tmp_path: Path) -> ScriptedHost:
    return ScriptedHost(tmp_path / "load-host", HostInfo(name="load", role="load", address="127.9.9.100"))


def keys(command: dict[str, Any] | None = None, workload: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    full = {"run": RUN, "outputs": ["*.hdr"], "archive": ARCHIVE, **(command or {})}
    chosen = {"name": "command", "command": {key: value for key, value in full.items() if value is not None}, **more}
    return {"workload": workload or WORKLOAD, "load_generator": chosen}


def command_definition(*given: Any, **more: Any) -> Definition:
    return definition(**keys(*given, **more))


def script(host: ScriptedHost) -> list[str]:
    text = host.read_tail(host.root / "load" / "commands.sh", max_bytes=100_000)
    lines = [line.removeprefix("run ") for line in text.splitlines() if line.startswith("run ")]
    return [line.replace(" timeout --kill-after=10 110", "") for line in lines]


def told(generator: CommandGenerator, given: Definition) -> list[tuple[str, str]]:
    return [(one.where, one.what) for one in generator.check(load_spec(only_part(given)))]


def test_each_placeholder_stays_one_word_whatever_it_holds(generator: CommandGenerator, host: ScriptedHost) -> None:
    trick = {**WORKLOAD, "table": "x; touch /tmp/owned; $(id) {rate}"}
    populate = "{archive}/bin/gen populate -n {rows} -t {table}"
    generator.start(host, request(**keys({"populate": populate}, trick)))
    populate_line, load_line = script(host)
    assert populate_line.endswith("/bin/gen populate -n 10000 -t 'x; touch /tmp/owned; $(id) {rate}'")
    assert load_line.endswith("/bin/gen --rate 100 -d 50 --hosts=10.0.0.1,10.0.0.2 '--title=a Mine'")


def test_the_seed_is_the_load_s_own_and_is_recorded(generator: CommandGenerator, host: ScriptedHost) -> None:
    seeded = request(**keys({"run": RUN + " --seed {seed}"}), seed=7)
    generator.start(host, replace(seeded, seed=12_345))
    assert script(host)[-1].endswith("--seed 12345")
    assert json.loads(host.read_tail(host.root / "load" / "plan.json", max_bytes=10_000))["seed"] == 12_345


def test_several_hosts_share_the_rate_and_wait_for_one_start(generator: CommandGenerator, host: ScriptedHost) -> None:
    asked = replace(request(**keys({"populate": "fill", "run": RUN + " {seed} {part}/{parts}"})), parts=3, seed=7)
    at = datetime(2026, 1, 31, 12, tzinfo=UTC)
    generator.start(host, asked)
    assert [line.split()[0] for line in script(host)] == ["populate", "start", "load"]
    assert "--rate 34 " in script(host)[-1]
    assert script(host)[-1].endswith(" 7 1/3")
    generator.begin(host, asked.job_id, at, at + timedelta(seconds=2))
    told = json.loads(host.read_tail(host.root / "load" / "start.json", max_bytes=1_000))
    assert told == {"start": "2026-01-31T12:00:00+00:00", "local": at.timestamp() + 2}
    generator.start(host, replace(asked, part=2))
    assert [line.split()[0] for line in script(host)] == ["start", "load"]
    assert "--rate 33 " in script(host)[-1]
    assert script(host)[-1].endswith(" 8 2/3")


def test_a_rule_that_another_host_broke_is_told_and_a_load_that_a_rule_ended_says_so(
    generator: CommandGenerator, host: ScriptedHost
) -> None:
    broken, asked = BrokenRule(seconds=20.0, rule=0, why="late", host="load2"), request(**keys())
    generator.start(host, asked)
    generator.end(host, asked.job_id, broken)
    assert BrokenRule.model_validate_json(host.read_tail(host.root / "load" / "end.json", max_bytes=1_000)) == broken
    host.statuses[asked.job_id] = JobStatus("exited", 0)
    ended = {
        "load.console": "",
        "load.end": "exit 0\nseconds 21\n",
        "a.hdr": "",
        "stopped.json": broken.model_dump_json(),
    }
    for name, content in ended.items():
        host.write(host.root / "load" / name, content)
    status = generator.status(host, asked.job_id)
    assert (status.state, status.stopped) == ("complete", broken)


def test_a_program_that_takes_long_to_end_is_told_as_stopped_before_it_has(
    generator: CommandGenerator, host: ScriptedHost
) -> None:
    broken, asked = BrokenRule(seconds=20.0, rule=0, why="late"), request(**keys({"progress": "(?P<rate>[0-9.]+) ops"}))
    generator.start(host, asked)
    for name, content in {"load.console": "", "stopped.json": broken.model_dump_json()}.items():
        host.write(host.root / "load" / name, content)
    host.command = lambda _: CommandResult(0, "20\n", "")
    status = generator.status(host, asked.job_id)
    assert (status.state, status.stopped) == ("running", broken)


def test_a_load_that_is_smaller_than_the_number_of_its_hosts_is_never_sent_without_a_rate(
    generator: CommandGenerator, host: ScriptedHost
) -> None:
    with pytest.raises(LoadError, match="5 ops/s can't be shared among 6 load hosts"):
        generator.start(host, replace(request(**keys()), load_ops_s=5, part=6, parts=6))
    assert host.jobs == {}


def test_each_host_populates_its_part_where_the_command_knows_it(
    generator: CommandGenerator, host: ScriptedHost
) -> None:
    generator.start(host, replace(request(**keys({"populate": "fill {part}"})), part=2, parts=3))
    assert script(host)[0] == "populate fill 2"


def test_a_sound_definition_has_no_problems(generator: CommandGenerator) -> None:
    assert told(generator, command_definition()) == []


@pytest.mark.parametrize(
    ("given", "where", "what"),
    [
        (keys({"run": RUN + " {Rate}"}), "run", "{Rate} stands for nothing"),
        (keys({"run": RUN + " {row}"}), "run", "{row} stands for nothing"),
        (keys({"run": RUN + " {columns}"}, {**WORKLOAD, "columns": ["a"]}), "run", "{columns} stands for nothing"),
        (keys({"run": RUN + " {data_per_node}"}), "run", "{data_per_node} stands for nothing"),
        (keys({"version": "{archive}/gen -r {rate}"}), "version", "{rate} stands for nothing"),
        (keys({"run": "{archive}/gen {duration}"}), "run", "has no {rate}, which is the load, in ops/s, or this"),
        (keys({"archive": None}), "run", "{archive} stands for nothing"),
        (keys({"run": "gen {rate} {duration}"}), "archive", "is used by no command"),
        (keys({"archive": {**ARCHIVE, "sha256": "0" * 64}}), "archive", "the load generator's archive is not in the"),
        (keys({"run": "{archive}/../../gen {rate} {duration}"}), "archive", "'../../gen' is no path in it"),
        (keys({"run": "{archive}//etc/gen {rate} {duration}"}), "archive", "'/etc/gen' is no path in it"),
        (keys({"run": "{archive}/**/gen {rate} {duration}"}), "archive", "'**/gen' is no path in it"),
        (keys({"progress": "("}), "progress", "is no regular expression"),
        (keys({"outputs": ["a.hdr", "out/*.hdr"]}), "outputs[1]", "'out/*.hdr' is a path"),
        (keys({"outputs": ["{outputs}/*.hdr"]}), "outputs[0]", "'{outputs}/*.hdr' is a path"),
        (keys({"outputs": [" "]}), "outputs[0]", "is empty, and no file is named so"),
        (keys({"outputs": ["*"]}), "outputs[0]", "'*' is also the name of plan.json, which Plimsoll writes"),
        (keys({"outputs": ["*.console"]}), "outputs[0]", "'*.console' is also the name of populate.console"),
    ],
)
def test_what_a_command_lacks_is_named_at_its_key(
    generator: CommandGenerator, given: dict[str, Any], where: str, what: str
) -> None:
    found = told(generator, definition(**given))
    assert [one for one, _ in found] == [f"load_generator.command.{where}"]
    assert found[0][1].startswith(what)


def test_the_rest_of_a_definition_is_checked_too(generator: CommandGenerator) -> None:
    nameless = definition(**{**keys(), "workload": {"rows": "many"}}, timing={"duration": "45.5s", "warmup": "15.5s"})
    assert [where for where, _ in told(generator, nameless)] == [
        "workload.name",
        "workload.rows",
        "timing.duration",
        "timing.warmup",
    ]
    without = definition(load_generator={"name": "command"}, workload=WORKLOAD)
    assert told(generator, without)[0][0] == "load_generator.command"
    assert generator.downloads(load_spec(only_part(without))) == ()


def test_an_option_of_the_workload_hides_no_word_of_the_load(generator: CommandGenerator) -> None:
    """Else `{threads}` would be the generator's, whatever the workload says."""
    found = told(generator, definition(**keys(workload={**WORKLOAD, "threads": 64})))
    assert [where for where, _ in found] == ["workload.threads"]
    assert found[0][1].startswith("{threads} is ")


@pytest.mark.parametrize("line", ["", "gen 'open"])
def test_a_line_that_is_no_command_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"command\.run"):
        command_definition({"run": line})


def test_what_the_columns_of_its_files_hold_is_checked_with_the_definition() -> None:
    columns = {"due": "ts_us", "latency": "took_us"}
    found = command_definition({"columns": columns}).load_generator.command
    assert found is not None
    assert found.columns == columns
    with pytest.raises(ValueError, match="did you mean 'latency'"):
        command_definition({"columns": {"due": "ts_us", "latence": "took_us"}})


def test_its_rate_is_read_as_the_definition_says(generator: CommandGenerator, host: ScriptedHost) -> None:
    generator.start(host, request(**keys({"progress": "[0-9.]+ ops/s"})))
    host.write(host.root / "load" / "load.console", "")
    host.command = lambda _: CommandResult(0, "20\n1,234.5 ops/s\n", "")
    status = generator.status(host, "load")
    assert (status.phase, status.achieved_ops_s, status.seconds_left) == ("load", 1234.5, 25)
    assert host.commands[-1][-3:] == ("load", "[0-9.]+ ops/s", str(host.root / "load"))
    host.command = lambda _: CommandResult(0, "3\n", "")
    status = generator.status(host, "load")
    assert (status.phase, status.achieved_ops_s) == ("warm-up", None)


@pytest.mark.parametrize("printed", ["throughput: 1.234.567 ops/s", "10.0.0.12: 5000 ops/s", "12.05.2024 rate=5000"])
def test_what_is_no_rate_is_not_shown_and_ends_no_load(
    generator: CommandGenerator, host: ScriptedHost, printed: str
) -> None:
    generator.start(host, request(**keys({"progress": ".*"})))
    host.write(host.root / "load" / "load.console", "")
    host.command = lambda _: CommandResult(0, f"20\n{printed}\n", "")
    status = generator.status(host, "load")
    assert (status.phase, status.achieved_ops_s) == ("load", None)


def test_a_command_that_was_killed_or_failed_says_so(generator: CommandGenerator, host: ScriptedHost) -> None:
    generator.start(host, request(**keys()))
    host.write(host.root / "load" / "load.console", "no such table\n")
    host.statuses["load"] = JobStatus("exited", None)
    assert generator.status(host, "load").reason.startswith("load: command was killed")
    host.write(host.root / "load" / "load.end", "exit 3\nseconds 15\n")
    host.statuses["load"] = JobStatus("exited", 3)
    assert generator.status(host, "load").reason.startswith("load: command ended with exit code 3")
    assert "no such table" in generator.status(host, "load").reason


def test_a_load_that_left_no_file_to_judge_has_failed_and_its_files_are_named(
    generator: CommandGenerator, host: ScriptedHost
) -> None:
    generator.start(host, request(**keys({"outputs": ["*.hdr", "times.csv"]})))
    for name in ("load.console", "load.begun", "latency.log"):
        host.write(host.root / "load" / name, "1\n")
    host.write(host.root / "load" / "load.end", "exit 0\nseconds 50\n")
    host.statuses["load"] = JobStatus("exited", 0)
    status = generator.status(host, "load")
    assert status.state == "failed"
    assert status.reason.startswith(
        "none of the files latency.log, load.console is named *.hdr or times.csv: correct "
        f"`load_generator.command.outputs`; {LASTS}"
    )
    host.write(host.root / "load" / "a.hdr", "")
    assert generator.status(host, "load").state == "complete"


def test_what_the_timed_run_prints_can_be_judged(generator: CommandGenerator) -> None:
    assert told(generator, command_definition({"outputs": ["load.console"]})) == []


def test_programs_that_a_host_lacks_are_named_before_the_database_starts(
    generator: CommandGenerator, host: ScriptedHost
) -> None:
    given = command_definition(
        {
            "archive": None,
            "populate": "env HOME=/tmp {home}/bin/gen populate",
            "run": "gen {rate} {duration}",
            "version": "env -i gen",
        },
        {**WORKLOAD, "home": "/opt/my gen"},
    )
    assert generator.unready(host, load_spec(only_part(given))) == ""
    assert host.commands[-1][4:] == ("/opt/my gen/bin/gen", "gen")
    host.command = lambda _: CommandResult(0, "gen\n", "")
    assert generator.unready(host, load_spec(only_part(given))) == (
        "there is no gen on this host: install it, or correct `load_generator.command`"
    )


def test_what_it_came_to_is_told_by_how_it_ended(generator: CommandGenerator) -> None:
    plan = '{"rate": 100, "duration_s": 45, "warmup_s": 15, "program": "gen"}'
    ended = "exit 0\nseconds 50\n0m5.0s 0m0.0s\n"
    whole = generator.summary({"plan.json": plan, "load.begun": "1700000000\n", "load.end": ended})
    assert (whole.complete, whole.generator, whole.duration_s, whole.attempted_ops_s) == (True, "gen", 45, 100)
    assert whole.started_at is not None
    assert (whole.started_at.timestamp(), whole.cpu_cores) == (1_700_000_000, 0.1)
    short = generator.summary({"plan.json": plan, "load.end": "exit 0\nseconds 30\n"})
    assert (short.complete, short.reason) == (False, "the command ended after 30 s of 45 s")
    assert not generator.summary({"plan.json": plan}).complete


def test_a_command_that_gives_up_under_load_is_judged(generator: CommandGenerator, host: ScriptedHost) -> None:
    generator.start(host, request(**keys()))
    host.write(host.root / "load" / "load.console", "server closed the connection\n")
    host.write(host.root / "load" / "load.end", "exit 2\nseconds 16\n")
    host.statuses["load"] = JobStatus("exited", 2)
    assert generator.status(host, "load").state == "complete"


@pytest.mark.parametrize(
    ("ended", "complete", "gave_up"),
    [
        (
            "exit 2\nseconds 30\n",
            True,
            "the command ended after 30 s of 45 s with exit code 2: what was due and has no",
        ),
        ("exit 124\nseconds 110\n", True, "the command did not end within 60 s after its time, and was ended: what"),
        ("exit 137\nseconds 110\n", True, "the command did not end within 60 s after its time, and was ended: what"),
        ("exit 2\nseconds 50\n", True, ""),
        ("exit 137\nseconds 30\n", False, ""),
        ("exit 2\nseconds 15\n", False, ""),
        ("exit 0\nseconds 30\n", False, ""),
    ],
)
def test_who_gives_up_has_left_without_an_answer_what_was_due(
    generator: CommandGenerator, ended: str, complete: bool, gave_up: str
) -> None:
    plan = '{"rate": 100, "duration_s": 45, "warmup_s": 15, "program": "gen"}'
    found = generator.summary({"plan.json": plan, "load.end": ended})
    assert (found.complete, found.gave_up[: len(gave_up)]) == (complete, gave_up)
    assert bool(found.gave_up) is bool(gave_up)


def test_the_files_to_judge_are_those_that_the_definition_names(generator: CommandGenerator) -> None:
    names = ["plan.json", "a.hdr", "b.hdr", "load.console"]
    assert generator.response_time_logs(load_spec(only_part(command_definition())), names) == {
        "a.hdr": "a.hdr",
        "b.hdr": "b.hdr",
    }


def test_its_version_is_what_the_program_says(generator: CommandGenerator, host: ScriptedHost) -> None:
    host.command = lambda _: CommandResult(0, "\ngen 1.2 (unreleased)\nmore\n", "")
    versioned = command_definition({"version": "{archive}/bin/gen --version"})
    assert generator.describe(host, load_spec(only_part(versioned))) == "gen: gen 1.2 (unreleased)"
    assert generator.describe(host, load_spec(only_part(command_definition()))) == "gen"
