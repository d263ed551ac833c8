"""A whole cell whose load a command puts on: cassandra-stress, started as any program by its command line."""

from pathlib import Path

import pytest
from tests.support.campaigns.running import run_missing
from tests.support.nodes.even import toolkit
from tests.support.nodes.small import define
from tests.support.suite.requirements import long

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.generators.cassandra_stress.checks import PROGRAM
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.publish.results import attempt_data
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.settings import Settings

STRESS = (
    "{java_home}/bin/java -Xmx{heap} -Dcassandra.storagedir={outputs} -cp '{jars}' org.apache.cassandra.stress.Stress"
)
COMMON = "-node {contact_points} -mode native cql3 protocolVersion=4"


def definition(jars: Path) -> Definition:
    content = define(nodes=1).model_dump(mode="json", exclude={"workload", "load_generator", "timing"})
    schema = "-schema replication(factor=1)"
    populate = f"{STRESS} write n={{rows}} no-warmup cl=ONE -pop seq=1..{{rows}} -rate threads=8 {schema} {COMMON}"
    run = (
        f"{STRESS} mixed ratio(write=1,read=1) clustering=fixed(1) no-warmup duration={{duration}}s cl=ONE "
        f"-pop seq=1..{{rows}} -rate threads=8 fixed={{rate}}/s {COMMON} "
        "-log hdrfile={outputs}/stress.hdr interval=1s level=minimal"
    )
    return Definition.model_validate(
        {
            **content,
            "name": "by-command",
            "workload": {"name": "Rows", "rows": 1000, "replication_factor": 1, "jars": f"{jars}/*"},
            "load_generator": {
                "name": "command",
                "heap": "256M",
                "command": {
                    "populate": populate,
                    "run": run,
                    "version": "{java_home}/bin/java -version",
                    "outputs": ["*.hdr"],
                    "progress": "^total, .*",
                },
            },
            "timing": {"duration": "9s", "warmup": "3s"},
            "service_levels": [{"percentile": 99, "interval": "2s", "below": "5s"}],
        }
    )


@long("commands put loads on other databases, too")
def test_a_cell_of_a_command_runs_to_its_judged_verdict(artefacts: Artefacts, tmp_path: Path) -> None:
    settings = Settings(store=str(tmp_path / "store"), work=tmp_path / "work", cache=Settings().cache)
    tools, own = toolkit(settings), definition(artefacts.program(PROGRAM))
    assert problems(tools, own) == ()
    campaign = CampaignStore(tools.store, "by-command")
    campaign.open(own)

    [ran] = run_missing(tools, "by-command", "me", print)

    assert (ran.troubles, ran.remains) == ((), False)
    assert ran.verdict is not None
    if not ran.verdict.valid:  # beside other tests the rate is not what was asked for, and a command can't say why
        assert {"load generator"} >= set(ran.verdict.invalidated_by), ran.verdict.reasons
    assert ran.verdict.operations > 0
    assert set(attempt_data(tools.store, ran.verdict).intervals["operation"]) == {"all", "reads", "writes"}
    assert any("stalls" in warning for warning in ran.verdict.warnings)
    fingerprint = layout.FINGERPRINT.read(tools.store, ran.work.key)
    assert fingerprint is not None
    assert fingerprint.load_generator.startswith("java: openjdk version")
    files = {path.rpartition("/")[2] for path in tools.store.keys(layout.attempt_file(ran.work.key, layout.RAW))}
    assert {"stress.hdr", "populate.console", "load.console", "load.begun", "load.end"} <= files


@long("commands put loads on other databases, too")
@pytest.mark.parametrize(
    ("run", "reason"),
    [
        ("/bin/false {rate} {duration}", "load: command ended with exit code"),
        ("/nowhere/program {rate} {duration}", "/nowhere/program"),
    ],
)
def test_a_command_that_fails_says_so_and_leaves_nothing(
    artefacts: Artefacts, tmp_path: Path, run: str, reason: str
) -> None:
    settings = Settings(store=str(tmp_path / "store"), work=tmp_path / "work", cache=Settings().cache)
    tools, own = toolkit(settings), definition(artefacts.program(PROGRAM))
    command = own.load_generator.command
    assert command is not None
    failing = command.model_copy(update={"run": run, "populate": None, "version": None})
    chosen = own.load_generator.model_copy(update={"command": failing})
    campaign = CampaignStore(tools.store, "by-command")
    campaign.open(own.model_copy(update={"load_generator": chosen}))

    [ran] = run_missing(tools, "by-command", "me", print)

    assert (ran.troubles, ran.remains) == ((), False)
    assert ran.verdict is not None
    assert reason in " ".join(ran.verdict.reasons)
