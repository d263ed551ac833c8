"""Find what a definition asks of cassandra-stress that it can't do, before anything starts."""

import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from plimsoll.adapters.cql import protocol_problems
from plimsoll.adapters.generators.cassandra_stress.release import PROGRAM
from plimsoll.adapters.generators.cassandra_stress.workloads import OPTIONS, USER, shares
from plimsoll.adapters.generators.workload_options import (
    given_options,
    interval_problems,
    operation_problems,
    option_problems,
    timing_problems,
)
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem
from plimsoll.domain.spelling import meant_or_known
from plimsoll.ports.artefacts import ProgramSource

_MOST_THREADS = 4096
_NAME = re.compile(r"[A-Za-z]\w*")
_PROFILE_KEYS = ("keyspace", "table")


def problems(definition: Definition, artefacts: ProgramSource) -> Sequence[Problem]:
    """Return all problems at once. Downloads nothing."""
    times = [*timing_problems(definition), *interval_problems(definition)]
    lacks = artefacts.missing_of_program(PROGRAM, "load_generator.name", definition)
    speaks = protocol_problems(definition, PROGRAM.name)
    return [*speaks, *_workload(definition), *_generator(definition), *times, *lacks]


def _workload(definition: Definition) -> Iterator[Problem]:
    name = definition.workload.name
    if name not in OPTIONS:
        known = meant_or_known(name, list(OPTIONS))
        yield Problem("workload.name", f"{name!r} is no workload that cassandra-stress can put on", known)
        return
    given = given_options(definition.workload)
    found = list(option_problems("workload", name, OPTIONS[name], given))
    if name == USER and not found:
        found = list(_profile(given))
    yield from found
    if not found:
        yield from operation_problems(definition, shares(definition.workload))


def _profile(given: Mapping[str, JsonValue]) -> Iterator[Problem]:
    profile, ops = given["profile"], given["ops"]
    if not isinstance(profile, dict):
        yield Problem("workload.profile", "must have keys of its own", "write the profile here, as YAML")
        return
    for key in _PROFILE_KEYS:
        if not isinstance(profile.get(key), str):
            yield Problem(f"workload.profile.{key}", "is missing", f"write the {key}'s name")
    queries = profile.get("queries") or {}
    known = ["insert", *(queries if isinstance(queries, dict) else ())]
    if not isinstance(ops, dict) or not ops:
        yield Problem("workload.ops", "must have a weight for each operation", "write `{insert: 1, …}`")
        return
    for name, weight in ops.items():
        if name not in known or not _NAME.fullmatch(name):
            yield Problem(f"workload.ops.{name}", "the profile has no such operation", meant_or_known(name, known))
        elif not isinstance(weight, int) or isinstance(weight, bool) or weight < 0:
            yield Problem(f"workload.ops.{name}", f"{weight!r} is no weight", "write a whole number")


def _generator(definition: Definition) -> Iterator[Problem]:
    generator = definition.load_generator
    if generator.threads * generator.concurrency > _MOST_THREADS:
        what = (
            f"{generator.threads} threads × {generator.concurrency} queries in flight: cassandra-stress has a thread "
            "of the operating system for each query in flight"
        )
        yield Problem("load_generator.concurrency", what, f"make their product at most {_MOST_THREADS}")
