import json
from typing import Any

import pytest
from tests.support.resolved import only_part
from tests.unit.adapters.foreign_load.load_requests import PROFILE, definition, request

from plimsoll.adapters.generators.cassandra_stress.workloads import (
    load_arguments,
    populate_arguments,
    profile,
    record_s,
    rows,
    shares,
)
from plimsoll.domain.campaign.resolve import load_spec


def words(arguments: tuple[str, ...] | None) -> str:
    return " ".join(arguments or ())


def test_rows_are_populated_in_sequence_as_fast_as_threads_can() -> None:
    assert words(populate_arguments(request())) == (
        "write no-warmup cl=LOCAL_ONE n=10000 -pop seq=1..10000 -col size=fixed(34) n=fixed(5) "
        "-schema replication(factor=3) -rate threads=40 -errors retries=0 ignore -mode native cql3 "
        "-node 10.0.0.1,10.0.0.2 -log level=minimal"
    )


def test_the_timed_run_has_a_fixed_rate_which_gives_response_times_and_a_log_of_its_own() -> None:
    assert words(load_arguments(request())) == (
        "mixed ratio(write=1,read=1) clustering=fixed(1) no-warmup cl=LOCAL_ONE duration=50s "
        "-pop dist=gaussian(1..10000,5000.5,1666.5) -col size=fixed(34) n=fixed(5) -schema replication(factor=3) "
        "-rate threads=40 fixed=100/s -errors retries=0 ignore -mode native cql3 -node 10.0.0.1,10.0.0.2 "
        "-log hdrfile=cassandra-stress.hdr interval=5s level=minimal"
    )


def test_the_timed_run_goes_on_beyond_what_is_judged_since_its_log_may_begin_and_end_late() -> None:
    timing = {"duration": "30m", "warmup": "20s"}
    assert "duration=1805s" in load_arguments(request(timing=timing))


@pytest.mark.parametrize(
    ("workload", "command", "asked"),
    [
        ({"name": "write"}, "write", {"writes": 1.0}),
        ({"name": "read"}, "read", {"reads": 1.0}),
        ({"name": "StandardRow", "write": 0}, "read", {"reads": 1.0}),
        ({"name": "mixed", "write": 3}, "mixed", {"writes": 0.75, "reads": 0.25}),
    ],
)
def test_weights_choose_the_command(workload: dict[str, Any], command: str, asked: dict[str, float]) -> None:
    assert load_arguments(request(workload))[0] == command
    assert shares(definition(workload).workload) == asked


@pytest.mark.parametrize(
    ("keys", "population"),
    [
        ({"keys": "uniform"}, "dist=uniform(1..1000)"),
        ({"keys": "sequence"}, "seq=1..1000"),
        ({"mean": 100, "deviation": 2.5}, "dist=gaussian(1..1000,100,2.5)"),
    ],
)
def test_keys_are_drawn_as_asked(keys: dict[str, Any], population: str) -> None:
    arguments = load_arguments(request({"name": "StandardRow", "rows": 1000, **keys}))
    assert arguments[arguments.index("-pop") + 1] == population


def test_a_profile_runs_with_its_operations_and_inserts_alone_populate() -> None:
    workload = {"name": "user", "profile": PROFILE, "ops": {"insert": 1, "one": 3}, "rows": "2k"}
    timed = load_arguments(request(workload))
    assert timed[:4] == ("user", "profile=profile.yaml", "ops(insert=1,one=3)", "clustering=fixed(1)")
    assert "-schema" not in timed
    populate = populate_arguments(request(workload))
    assert populate is not None
    assert (populate[2], populate[6]) == ("ops(insert=1)", "n=2000")
    assert json.loads(profile(load_spec(only_part(definition(workload))))) == PROFILE
    assert shares(definition(workload).workload) == {"writes": 0.25, "one": 0.75}


def test_operations_of_one_kind_add_up_under_the_name_that_the_log_is_read_with() -> None:
    profile_of_updates = {**PROFILE, "queries": {"update": {}, "Select": {}, "one": {}}}
    ops = {"insert": 1, "update": 3, "Select": 2, "one": 2}
    workload = definition({"name": "user", "profile": profile_of_updates, "ops": ops}).workload
    assert shares(workload) == {"writes": 0.5, "reads": 0.25, "one": 0.25}


def test_one_row_is_drawn_in_sequence_since_it_has_no_deviation() -> None:
    arguments = load_arguments(request({"name": "StandardRow", "rows": 1}))
    assert arguments[arguments.index("-pop") + 1] == "seq=1..1"


def test_without_rows_a_profile_populates_nothing() -> None:
    workload = {"name": "user", "profile": PROFILE, "ops": {"insert": 1}}
    assert populate_arguments(request(workload)) is None
    assert rows(definition(workload).workload) == 0


@pytest.mark.parametrize(
    ("warmup", "levels", "length"),
    [
        ("30s", [{"interval": "10s"}], 10),
        ("15s", [{"interval": "10s"}], 5),
        ("30s", [{"interval": "10s"}, {"interval": "15s"}], 5),
        ("30s", [{"interval": "10s"}, {"interval": "10s", "windows": "sliding"}], 1),
    ],
)
def test_a_record_is_as_long_as_intervals_allow(warmup: str, levels: list[dict[str, Any]], length: int) -> None:
    assert (
        record_s(
            load_spec(
                only_part(
                    definition(
                        timing={"duration": str(60 + int(warmup[:-1])) + "s", "warmup": warmup}, service_levels=levels
                    )
                )
            )
        )
        == length
    )
