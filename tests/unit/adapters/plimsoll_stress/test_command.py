import json
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import PurePosixPath

import pytest
from tests.support.resolved import only_part

from plimsoll.adapters.generators.plimsoll_stress.command import access, run_arguments, sample_arguments
from plimsoll.domain.campaign.resolve import load_spec
from plimsoll.domain.definition.definition import Definition
from plimsoll.ports.load_generator import LoadRequest
from plimsoll.ports.provider import ExternalDatabase
from plimsoll.ports.secrets import DatabaseAccess

PUBLISHED = (
    "run BasicTimeSeries -d 150m -p 100M -c 50 --pg sequence -t 8 -r 0.2 --rate 40000 "
    "--populate 200000 --response-time-warmup 30m --csv load/tlp_stress_metrics.csv --hdr load/tlp_stress_metrics.hdr"
)


@pytest.fixture
def azul() -> Definition:
    return Definition.model_validate(
        {
            "name": "azul",
            "title": "Azul",
            "system": {"version": "4.0.1"},
            "variants": [{"id": "g1", "jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "40G"}}],
            "loads": ["40000/s"],
            "workload": {"populate": 200000},
            "timing": {"duration": "150m", "warmup": "30m"},
        }
    )


def arguments_of(definition: Definition, part: int = 1, parts: int = 1, waits: bool = False) -> tuple[str, ...]:
    request = LoadRequest(
        job_id="load",
        spec=load_spec(only_part(definition)),
        load_ops_s=40_000,
        contact_points=["127.0.9.1", "127.0.9.2"],
        expires=timedelta(hours=1),
        part=part,
        parts=parts,
        waits=waits,
    )
    return run_arguments(request, PurePosixPath("load"))


def test_every_service_level_is_watched_and_a_run_ends_early_if_that_is_asked(azul: Definition) -> None:
    levels = [{}, {"percentile": 99, "interval": "5s", "below": "50ms", "operations": "reads"}, {"interval": "2500ms"}]
    several = Definition.model_validate({**azul.model_dump(mode="json"), "service_levels": levels})
    arguments = arguments_of(several)
    assert arguments[arguments.index("--watch") + 1] == "99.9/10s/100ms,99/5s/50ms/reads"
    assert "--stop-decided" not in arguments
    timing = azul.timing.model_copy(update={"stop": "decided", "least_intervals": 7})
    arguments = arguments_of(azul.model_copy(update={"timing": timing}))
    assert arguments[arguments.index("--stop-decided") + 1] == "7"


def test_the_program_ends_the_load_by_the_rules_that_protect_the_system(azul: Definition) -> None:
    rules = [{"errors": "5%", "within": "10s"}, {"percentile": 99.9, "above": "1s", "within": "2m"}]
    guarded = Definition.model_validate({**azul.model_dump(mode="json"), "stop_when": rules})
    arguments = arguments_of(guarded)
    assert arguments[arguments.index("--stop-when") + 1] == "errors/10s/5%,99.9/2m/1000ms"
    assert "--stop-when" not in arguments_of(azul)
    assert "--end-file" not in arguments
    shared = arguments_of(guarded, part=2, parts=3)
    assert shared[shared.index("--end-file") + 1] == "load/end.json"


def test_one_of_several_load_hosts_is_told_which_and_to_wait_for_the_start(azul: Definition) -> None:
    arguments = arguments_of(azul, part=2, parts=3)
    assert arguments[-4:] == ("--split", "2/3", "--start-file", "load/start.json")
    assert arguments[:-4] == arguments_of(azul)


def test_a_load_that_waits_for_the_database_is_told_to_wait_for_the_start_and_asks_nobody_itself(
    azul: Definition,
) -> None:
    workload = type(azul.workload).model_validate({"name": "YcsbA", "recordcount": "1M"})
    arguments = arguments_of(azul.model_copy(update={"workload": workload}), waits=True)
    assert arguments[-4:] == ("--start-file", "load/start.json", "--options", "load/options.json")
    assert not {"--settle", "--split"} & set(arguments)


def test_a_load_that_goes_on_with_rows_neither_populates_nor_makes_tables(azul: Definition) -> None:
    own = type(azul.workload).model_validate(
        {
            "name": "cql",
            "schema": ["DROP TABLE IF EXISTS {keyspace}.t", "CREATE TABLE {keyspace}.t (id bigint PRIMARY KEY)"],
            "operations": [{"name": "reads", "share": 1, "statement": "SELECT id FROM {keyspace}.t LIMIT 1"}],
        }
    )
    request = LoadRequest(
        "load",
        load_spec(only_part(azul.model_copy(update={"workload": own}))),
        100,
        ["127.0.9.1"],
        timedelta(hours=1),
        populates=False,
    )
    arguments = run_arguments(request, PurePosixPath("load"))
    assert arguments[-2:] == ("--no-populate", "--no-schema")
    assert arguments[:-2] == run_arguments(replace(request, populates=True), PurePosixPath("load"))


def test_the_command_line_begins_as_published(azul: Definition) -> None:
    arguments = arguments_of(azul)
    assert " ".join(arguments).startswith(PUBLISHED)


def test_a_run_without_warm_up_is_told_so_in_a_unit_that_the_program_knows(azul: Definition) -> None:
    timing = azul.timing.model_copy(update={"warmup": timedelta(0)})
    arguments = arguments_of(azul.model_copy(update={"timing": timing}))
    assert arguments[arguments.index("--response-time-warmup") + 1] == "0s"


def test_further_options_name_consistency_replication_hosts_and_reports(azul: Definition) -> None:
    arguments = arguments_of(azul)
    further = dict(zip(arguments[24::2], arguments[25::2], strict=True))
    assert further == {
        "--watch": "99.9/10s/100ms",
        "--cl": "LOCAL_ONE",
        "--rf": "3",
        "--host": "127.0.9.1,127.0.9.2",
        "--progress": "load/progress.jsonl",
        "--summary": "load/summary.json",
        "--seed": "1",
        "--drain": "30s",
    }


def test_clients_of_hbase_are_told_how_to_make_its_tables_and_nothing_of_cql(azul: Definition) -> None:
    workload = type(azul.workload).model_validate({"name": "YcsbA", "regions": 64, "compression": "GZ"})
    definition = azul.model_copy(update={"workload": workload})
    request = LoadRequest(
        "load", load_spec(only_part(definition)), 100, ["127.0.9.1"], timedelta(hours=1), protocol="hbase"
    )
    arguments = run_arguments(request, PurePosixPath("load"))
    told = dict(zip(arguments[2::2], arguments[3::2], strict=True))
    own = {"--regions": "64", "--block-encoding": "NONE", "--compression": "GZ", "--host": "127.0.9.1"}
    assert own.items() <= told.items()
    assert not {"--cl", "--rf"} & told.keys()
    sample = sample_arguments(request, PurePosixPath("load"), "sample")
    assert sample[sample.index("--namespace") + 1] == "sample"
    assert not {"--cl", "--rf", "--keyspace"} & {*sample}


@pytest.mark.parametrize(("loop", "expected"), [("open", False), ("closed", True)])
def test_a_closed_loop_is_one_option_more(azul: Definition, loop: str, expected: bool) -> None:
    closed = azul.model_copy(update={"loop": loop})
    arguments = arguments_of(closed)
    assert ("--closed" in arguments) is expected
    assert tuple(one for one in arguments if one != "--closed") == arguments_of(azul)


def test_thousands_of_millions_are_the_program_s_b(azul: Definition) -> None:
    workload = azul.workload.model_copy(update={"partitions": 2_000_000_000})
    arguments = arguments_of(azul.model_copy(update={"workload": workload}))
    assert arguments[arguments.index("-p") + 1] == "2B"


def test_other_workloads_get_their_options_in_a_file_and_settle_after_populating(azul: Definition) -> None:
    workload = type(azul.workload).model_validate({"name": "YcsbA", "recordcount": "1M"})
    arguments = arguments_of(azul.model_copy(update={"workload": workload}))
    assert arguments[:2] == ("run", "YcsbA")
    assert arguments[-4:] == ("--options", "load/options.json", "--settle", "10m")
    assert not {"-p", "--pg", "-r", "--populate"} & set(arguments)


def test_a_sample_of_rows_is_populated_in_a_keyspace_of_its_own_and_nothing_else_is_done(azul: Definition) -> None:
    workload = type(azul.workload).model_validate({"name": "YcsbA", "recordcount": "20k", "consistency": "QUORUM"})
    sampled = azul.model_copy(update={"workload": workload})
    request = LoadRequest("sample", load_spec(only_part(sampled)), 40_000, ["127.0.9.1"], timedelta(hours=1))
    assert " ".join(sample_arguments(request, PurePosixPath("samples/one"), "apart")) == (
        "run YcsbA -d 150m -c 50 -t 8 --rate 40000 --cl QUORUM --rf 3 --keyspace apart --host 127.0.9.1 "
        "--progress samples/one/progress.jsonl --summary samples/one/summary.json --options samples/one/options.json "
        "--drop --populate-only"
    )
    spread = replace(request, parts=10)
    assert " --split 1/10 --drop" in " ".join(sample_arguments(spread, PurePosixPath("samples/one"), "apart"))


def test_a_sample_of_time_series_is_the_first_rows_of_all_threads_as_fast_as_they_can(azul: Definition) -> None:
    two = azul.load_generator.model_copy(update={"hosts": 2, "threads": 8})
    sampled = azul.model_copy(update={"load_generator": two})  # 200,000 rows of each of 16 threads
    request = LoadRequest("sample", load_spec(only_part(sampled)), 40_000, ["127.0.9.1"], timedelta(hours=1), parts=10)
    assert " ".join(sample_arguments(request, PurePosixPath("samples/one"), "apart")).endswith(
        "--summary samples/one/summary.json -p 100M --pg sequence --populate 40000 --populate-rate 0 "
        "--drop --populate-only"
    )


def test_time_series_populate_at_the_loads_rate_as_published_unless_a_size_is_asked_for(azul: Definition) -> None:
    sized = azul.model_copy(update={"workload": azul.workload.with_options(data_per_node="5G")})
    assert "--populate-rate" not in arguments_of(azul)
    assert arguments_of(sized, waits=True)[-4:] == ("--start-file", "load/start.json", "--populate-rate", "0")


def external(*, is_read_only: bool = False, populate_ops_s: int | None = None) -> ExternalDatabase:
    return ExternalDatabase(
        contact_points=("db1", "db2"),
        port=9142,
        data_centre="eu 1",
        keyspace="bench",
        is_read_only=is_read_only,
        populate_ops_s=populate_ops_s,
        has_tls=True,
        access=DatabaseAccess("me", "secret", "a CA"),
    )


def arguments_to(definition: Definition, database: ExternalDatabase) -> tuple[str, ...]:
    request = LoadRequest(
        "load", load_spec(only_part(definition)), 500, database.contact_points, timedelta(hours=1), database=database
    )
    return run_arguments(request, PurePosixPath("load"))


def test_a_database_of_somebody_else_is_populated_no_faster_than_it_is_loaded(azul: Definition) -> None:
    arguments = arguments_to(azul, external())
    given = dict(pairwise(arguments))
    assert (given["--host"], given["--port"], given["--dc"], given["--keyspace"]) == (
        "db1,db2",
        "9142",
        "eu 1",
        "bench",
    )
    assert given["--populate-rate"] == "500"
    assert "--settle" not in arguments
    assert arguments_to(azul, external(populate_ops_s=50))[arguments.index("--populate-rate") + 1] == "50"


def test_tables_that_are_there_are_taken_as_they_are(azul: Definition) -> None:
    assert {"--no-schema", "--no-populate"} <= {*arguments_to(azul, external(is_read_only=True))}
    assert not {"--no-schema", "--no-populate", "--drop"} & {*arguments_to(azul, external())}


def test_a_password_is_read_from_standard_input_alone(azul: Definition) -> None:
    database = external()
    assert "--access-on-stdin" in arguments_to(azul, database)
    assert "secret" not in " ".join([*arguments_to(azul, database), str(database)])
    assert json.loads(access(database)) == {
        "user": "me",
        "password": "secret",
        "tls": True,
        "ca": "a CA",
        "certificate": "",
        "key": "",
    }
