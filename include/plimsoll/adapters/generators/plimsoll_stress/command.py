"""The command line of one load, in the form of published benchmarks: the program for its protocol, with the options
that only this protocol has.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from pathlib import PurePosixPath

from plimsoll.adapters.generators.foreign_load import END, LEASE
from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.keys.loads import CLOSED
from plimsoll.domain.keys.service_level import ALL_OPERATIONS, ServiceLevel
from plimsoll.domain.keys.timing import StopRule
from plimsoll.domain.keys.workload import BASIC_TIME_SERIES, CQL, HBASE, Workload
from plimsoll.domain.text.units import format_count, format_duration
from plimsoll.ports.artefacts import OwnProgramName
from plimsoll.ports.load_generator import LoadRequest
from plimsoll.ports.provider import ExternalDatabase

CSV = "tlp_stress_metrics.csv"
HDR = "tlp_stress_metrics.hdr"
PROGRESS = "progress.jsonl"
SUMMARY = "summary.json"
SETTLE = "10m"
"""Longest wait after populating until the nodes have no compactions left."""
DRAIN = timedelta(seconds=30)
"""Longest wait after the timed run for answers that are still missing; later ones count as unfinished."""
KEYSPACE = "tlp_stress"
"""The generator's keyspace, unless an option names another."""
OPTIONS = "options.json"
"""Options of workloads that tlp-stress has no words for."""
_AT_ONCE = {"--populate-rate": "0"}
"""The option to populate as fast as the threads can. Else BasicTimeSeries does at the load's rate, as published."""
_AS_LEFT = ("--no-populate", "--no-schema")
"""Take rows and tables as they are: a definition's own schema may drop tables, or create them without a condition."""
START = "start.json"
"""The file that gives one of several load hosts its time to start."""


@dataclass(frozen=True)
class ClientProgram:
    """The program of the clients of one protocol, the options by which they ask, and the option for other tables."""

    program: OwnProgramName
    main: str
    asking: Callable[[Workload], dict[str, str]]
    """Options by which the clients ask, or by which they make tables."""
    keyspace: str
    """The option that names the keyspace or namespace of the tables."""
    jvm: tuple[str, ...] = ()
    """Further flags of its JVM."""


def run_arguments(request: LoadRequest, folder: PurePosixPath) -> tuple[str, ...]:
    """Return `run WORKLOAD …`: the arguments of tlp-stress under their names, then those that tlp-stress lacks."""
    spec = request.spec
    workload, generator, timing = spec.workload, spec.load_generator, spec.timing
    is_own = workload.name == BASIC_TIME_SERIES
    published = {
        "-d": format_duration(timing.duration),
        **({"-p": _count(workload.partitions)} if is_own else {}),
        "-c": str(generator.concurrency),
        **({"--pg": workload.partition_generator} if is_own else {}),
        "-t": str(generator.threads),
        **({"-r": str(workload.read_share)} if is_own else {}),
        # A cell without a load only populates, and the program refuses a rate of 0
        "--rate": str(request.load_ops_s or 1),
        **({"--populate": str(workload.populate)} if is_own else {}),
        # The program knows no units below a second, and so no `0us`
        "--response-time-warmup": format_duration(timing.warmup) if timing.warmup else "0s",
        "--csv": str(folder / CSV),
        "--hdr": str(folder / HDR),
    }
    further = {
        **CLIENT_PROGRAMS[request.protocol].asking(workload),
        "--host": ",".join(request.contact_points),
        "--progress": str(folder / PROGRESS),
        "--summary": str(folder / SUMMARY),
        "--seed": str(request.seed),
        "--drain": format_duration(DRAIN),
        **_guarded(spec),
        **({"--end-file": str(folder / END)} if request.parts > 1 and spec.stop_when else {}),
        **_split(request),
        **({"--start-file": str(folder / START)} if request.parts > 1 or request.waits else {}),
        **(_AT_ONCE if is_own and (workload.data_per_node is not None or not request.load_ops_s) else {}),
        **({} if is_own else {"--options": str(folder / OPTIONS)}),
        # Where a load waits for its start, Plimsoll itself asks the nodes for compactions before it tells the start
        **({} if is_own or request.waits or request.database else {"--settle": SETTLE}),
    }
    # Last, so that its rate of populating replaces `_AT_ONCE`: somebody else's database is never filled at full speed
    external = _external(request.database, request.load_ops_s, folder) if request.database else {}
    options = (word for option in {**published, **_watched(spec), **further, **external}.items() for word in option)
    as_left = not request.populates or (request.database is not None and request.database.is_read_only)
    # Otherwise Cassandra keeps the rows of each table that is dropped, on the disks of somebody else
    log_in = ("--no-auto-snapshot", "--access-on-stdin") if request.database else ()
    closed = ("--closed",) if spec.loop == CLOSED else ()
    return ("run", workload.name, *options, *closed, *(_AS_LEFT if as_left else ()), *log_in)


def _external(database: ExternalDatabase, load_ops_s: int, folder: PurePosixPath) -> dict[str, str]:
    """Return the options of a database that somebody else runs, to which rows are written no faster than allowed."""
    return {
        "--port": str(database.port),
        "--dc": database.data_centre,
        "--keyspace": database.keyspace,
        "--populate-rate": str(database.populate_ops_s or load_ops_s),
        "--lease": str(folder / LEASE),
        **({"--nodes-within": ",".join(database.nodes_within)} if database.nodes_within else {}),
    }


def access(database: ExternalDatabase) -> str:
    """Return what the program reads from its standard input to log in there."""
    login = database.access
    keys = {"ca": login.authority, "certificate": login.certificate, "key": login.key}
    return json.dumps({"user": login.user, "password": login.password, "tls": database.has_tls, **keys})


def _watched(spec: LoadSpec) -> dict[str, str]:
    """Return what the program is to judge while it runs: service levels whose intervals are whole seconds.

    Those of an action are left out, as the program knows of none, and sliding windows, as whoever misses in an aligned
    one misses. Each of several load hosts knows only its own part of an interval, so none watches.
    """
    if spec.load_generator.hosts > 1:
        return {}
    levels = spec.service_levels
    whole = [level for level in levels if not level.during and not level.interval % timedelta(seconds=1)]
    stop = {"--stop-decided": str(spec.timing.least_intervals)} if spec.timing.stop else {}
    return {"--watch": ",".join(map(_level, whole)), **stop} if whole else {}


def _guarded(spec: LoadSpec) -> dict[str, str]:
    """Return the rules by which the program ends the load: `errors/10s/5%,99/30s/1000ms`."""
    return {"--stop-when": ",".join(map(_rule, spec.stop_when))} if spec.stop_when else {}


def _rule(rule: StopRule) -> str:
    within = format_duration(rule.within)
    if rule.above is None:
        return f"errors/{within}/{rule.errors}%"
    return f"{rule.percentile:.10g}/{within}/{rule.above / timedelta(milliseconds=1):.10g}ms"


def _level(level: ServiceLevel) -> str:
    bound = f"{level.percentile:.10g}/{format_duration(level.interval)}/{level.bound_ms:.10g}ms"
    return bound if level.operations == ALL_OPERATIONS else f"{bound}/{level.operations}"


def sample_arguments(request: LoadRequest, folder: PurePosixPath, keyspace: str) -> tuple[str, ...]:
    """Return arguments to populate a keyspace as a load does its own, and end: `run WORKLOAD … --populate-only`."""
    spec = request.spec
    workload, generator = spec.workload, spec.load_generator
    options = {
        "-d": format_duration(spec.timing.duration),
        "-c": str(generator.concurrency),
        "-t": str(generator.threads),
        "--rate": str(request.load_ops_s or 1),
        **CLIENT_PROGRAMS[request.protocol].asking(workload),
        CLIENT_PROGRAMS[request.protocol].keyspace: keyspace,
        "--host": ",".join(request.contact_points),
        "--progress": str(folder / PROGRESS),
        "--summary": str(folder / SUMMARY),
        **_guarded(spec),
    }
    if workload.name == BASIC_TIME_SERIES:  # the first rows, because each thread numbers its own rows
        options |= {
            "-p": _count(workload.partitions),
            "--pg": workload.partition_generator,
            "--populate": str(ceil(workload.populate * generator.hosts / request.parts)),
            **_AT_ONCE,
        }
    else:  # it numbers its rows: rows from the whole range
        options |= {"--options": str(folder / OPTIONS), **_split(request)}
    return ("run", workload.name, *(word for option in options.items() for word in option), "--drop", "--populate-only")


def _split(request: LoadRequest) -> dict[str, str]:
    return {"--split": f"{request.part}/{request.parts}"} if request.parts > 1 else {}


def _count(number: int) -> str:
    """Return the count for the program, which writes B where definitions write G."""
    return format_count(number).replace("G", "B")


def _asking_in_cql(workload: Workload) -> dict[str, str]:
    return {"--cl": workload.consistency, "--rf": str(workload.replication_factor)}


def _asking_hbase(workload: Workload) -> dict[str, str]:
    return {
        "--regions": str(workload.regions),
        "--block-encoding": workload.block_encoding,
        "--compression": workload.compression,
    }


# HBase's client compares keys by whole words if memory may be read so, which it asks of a class that is closed.
_FOR_HBASE = ("--add-opens=java.base/java.nio=ALL-UNNAMED",)
CLIENT_PROGRAMS: Mapping[str, ClientProgram] = {
    CQL: ClientProgram("load-generator", "plimsoll.stress.Main", _asking_in_cql, "--keyspace"),
    HBASE: ClientProgram(
        "load-generator-for-hbase", "plimsoll.stress.hbase.Main", _asking_hbase, "--namespace", _FOR_HBASE
    ),
}
"""Protocol → the program of its clients."""


def programs(spec: LoadSpec) -> Iterator[OwnProgramName]:
    """Yield the programs for the protocols of all variants, as far as there are any."""
    for protocol in dict.fromkeys(target.protocol for target in spec.targets):
        if protocol in CLIENT_PROGRAMS:
            yield CLIENT_PROGRAMS[protocol].program
