"""latte on the load host of a cluster, with cassandra-stress' standard row as a script in Rune. It must be installed
there, and is looked for, as no registry has it built.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from plimsoll.adapters.generators.cassandra_stress.checks import workload_problems
from plimsoll.adapters.generators.cassandra_stress.workloads import StandardRow, rows, shares, standard_row
from plimsoll.adapters.generators.foreign_load import (
    LOAD,
    PLAN,
    POPULATE,
    Command,
    Ending,
    ForeignGenerator,
    Load,
    Plan,
    phase_of,
    run_s,
)
from plimsoll.adapters.generators.workload_options import length_problems, protocol_problems
from plimsoll.domain.attempt.load_summary import LoadSummary
from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.keys.service_level import ALL_OPERATIONS
from plimsoll.domain.text.errors import HostError, Problem
from plimsoll.domain.text.wording import shortened
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadRequest, LoadStatus

FILE = "standard-row.rn"
WORKLOADS = ("StandardRow", "mixed", "write", "read")
_TABLE = "CREATE TABLE IF NOT EXISTS keyspace1.standard1"
_COLUMNS = tuple(f'\\"C{number}\\"' for number in range(5))
"""Quoted names, as they stand in a string of Rune's."""

_SCRIPT = """//! Plimsoll's StandardRow: one row of five blobs by a blob.
const ROWS = {rows};
const SIZE = {size};

pub async fn schema(ctx) {{
    ctx.execute("{keyspace}").await?;
    ctx.execute("{table}").await?;
    Ok(())
}}

pub async fn erase(ctx) {{
    ctx.execute("TRUNCATE keyspace1.standard1").await
}}

pub async fn prepare(ctx) {{
    ctx.load_cycle_count = ROWS;
    ctx.prepare("write", "INSERT INTO keyspace1.standard1 (key, {names}) VALUES (:key, {markers})").await?;
    ctx.prepare("read", "SELECT * FROM keyspace1.standard1 WHERE key = :key").await?;
    Ok(())
}}

fn key_of(number) {{
    latte::blob(number, 10)
}}

fn drawn(i) {{
    {draw}
}}

async fn insert(ctx, number, i) {{
    ctx.execute_prepared("write", [key_of(number), {values}]).await
}}

pub async fn load(ctx, i) {{
    insert(ctx, i, i).await
}}

pub async fn write(ctx, i) {{
    insert(ctx, drawn(i), i).await
}}

pub async fn read(ctx, i) {{
    ctx.execute_prepared("read", [key_of(drawn(i))]).await
}}
"""


_REPORT = "latte.json"
_VERSION = "0.29"
"""The version whose command line and report are known. Both differ from version to version."""
_INSTALL = f"cargo install latte-cli --version ~{_VERSION}"
_SLACK_S = 0.5
"""A sample begins at a whole second of the run, give or take so much."""
_SAMPLE = re.compile(r"^ *(\d+\.\d+) +\d+ +\d+ +(\d+) ", re.MULTILINE)
"""A line of latte's console for each second of the timed run: seconds since its start, calls, failed calls, ops/s."""

PLACES = ("~/.cargo/bin", "/usr/local/bin")
"""Places where a host is searched beside its PATH, which is short for a user who does not log in."""

_TIMEOUT = timedelta(seconds=20)
_FIND = f"""
at=$(command -v latte || ls {" ".join(f"{place}/latte" for place in PLACES)} 2>/dev/null | head -n 1)
[ -n "$at" ] || exit 0
echo "$at"
"$at" --version
"""


@dataclass(frozen=True)
class Installed:
    """`path` of the program on its host; `version` as latte reports it, such as 0.29.0; empty if it reports none."""

    path: str
    version: str


class Latte(ForeignGenerator):
    """Latte as it is installed on the load hosts."""

    name = "latte"
    summary_files: Sequence[str] = (PLAN, f"{LOAD}.end", _REPORT)

    def check(self, spec: LoadSpec) -> Sequence[Problem]:
        """Return features of the workload that latte or the database lacks. Hosts are checked at their preflight."""
        return [*protocol_problems(spec, self.name), *_problems(spec)]

    def limits(self, spec: LoadSpec) -> Sequence[str]:
        return (
            "latte must be on the load host: it is looked for before the database is started",
            "latte has no response times: service times are judged, in which a stall hides what was due in it",
            "latte skips operations that were due in a stall: they show as a rate that was not achieved",
            "latte tries a failed operation again, and ends the run where it fails for good",
            "latte has no warm-up at the load: its own is off, and the first part of the run is not judged",
            "latte reports neither its stalls nor how late it sends: these are not tested",
            "latte populates without verifying rows, and nobody waits for compactions after it",
        )

    def unready(self, host: Host, spec: LoadSpec) -> str:
        return _unready(installed(host))

    def describe(self, host: Host, spec: LoadSpec) -> str:
        return _described(installed(host))

    def summary(self, files: Mapping[str, str]) -> LoadSummary:
        plan, ending = Plan.parse(files.get(PLAN, "")), Ending.parse(files.get(f"{LOAD}.end", ""))
        text = files.get(_REPORT, "")
        if not text or ending is None:
            return LoadSummary(complete=False, reason="latte left no report")
        try:
            return self._summary(json.loads(text)["result"], plan, ending)
        except (KeyError, TypeError, ValueError) as error:
            what = f"latte left a report that is not {_VERSION}'s ({type(error).__name__}: {shortened(str(error))})"
            return LoadSummary(complete=False, reason=what)

    def _summary(self, result: Mapping[str, Any], plan: Plan, ending: Ending) -> LoadSummary:
        """Return the content of latte's report. Raises KeyError, TypeError or ValueError where its form is unknown."""
        first_s, end_s = plan.warmup_s - _SLACK_S, plan.duration_s - _SLACK_S
        judged = [sample for sample in result["log"] if first_s <= sample["time_s"] < end_s]
        errors = sum(sample["cycle_error_count"] for sample in judged)
        is_whole = result["elapsed_time_s"] >= plan.duration_s - 1
        return LoadSummary(
            complete=is_whole and ending.exit_code == 0,
            reason="" if is_whole else f"latte ended after {result['elapsed_time_s']:.0f} s",
            generator=self.name,
            started_at=datetime.fromisoformat(result["start_time"]),
            duration_s=min(result["elapsed_time_s"], plan.duration_s),
            warmup_s=min(plan.warmup_s, result["elapsed_time_s"]),
            attempted_ops_s=plan.rate,
            shares=dict(plan.shares),
            errors={"failed": errors} if errors else {},
            cpu_cores=ending.cpu_cores,
        )

    def response_time_logs(self, spec: LoadSpec, names: Iterable[str]) -> Mapping[str, str]:
        return {ALL_OPERATIONS: _REPORT} if _REPORT in names else {}

    def _load(self, host: Host, request: LoadRequest) -> Load:
        spec, generator = request.spec, request.spec.load_generator
        installation = installed(host)
        if installation is None or _unready(installation):
            raise HostError(_unready(installation), where=host.info.name)
        latte, at = installation.path, (FILE, *request.contact_points)
        with_level = ("--consistency", spec.workload.consistency)
        threads = ("--threads", str(generator.threads), "--concurrency", str(generator.concurrency))
        timed = (
            *("--rate", str(request.load_ops_s), "--duration", f"{run_s(spec)}s", "--warmup", "0"),
            *("--sampling", "1s", "--functions", functions(spec), "--output", _REPORT, "--quiet"),
        )
        schema = Command("schema", (latte, "schema", *with_level, *at))
        populate = Command(POPULATE, (latte, "load", *threads, "--quiet", *with_level, *at))
        run = Command(LOAD, (latte, "run", *timed, *threads, *with_level, *at))
        commands = [schema, populate, run] if rows(spec.workload) else [schema, run]
        return Load(commands, files={FILE: script(spec)})

    def _plan(self, request: LoadRequest) -> dict[str, Any]:
        return {"rows": rows(request.spec.workload), "shares": shares(request.spec.workload)}

    def _running(self, host: Host, plan: Plan, name: str, console: str) -> LoadStatus:
        samples = _SAMPLE.findall(console)
        if not samples:
            return phase_of(plan, name, 0.0)
        elapsed_s, rate = samples[-1]
        return replace(phase_of(plan, name, float(elapsed_s)), achieved_ops_s=float(rate))


def _problems(spec: LoadSpec) -> Iterator[Problem]:
    yield from workload_problems(spec, WORKLOADS, "that Plimsoll has for latte")
    if spec.workload.name not in WORKLOADS:
        return
    if any(level.windows == "sliding" for level in spec.service_levels):
        yield Problem("service_levels", "latte's samples are no whole seconds: windows can't slide", "use aligned ones")
    yield from length_problems(spec)


def _unready(installation: Installed | None) -> str:
    """Explain why a load host with this installation, or none, can't run latte; empty where it can."""
    if installation is None:
        places = " or in ".join(PLACES)
        return f"latte is not on this host: put its binary on the PATH, in {places} (`{_INSTALL}` builds it)"
    if installation.version.startswith(f"{_VERSION}."):
        return ""
    present = _described(installation)
    return f"this host has {present}, and Plimsoll knows {_VERSION} alone: put that there (`{_INSTALL}` builds it)"


def _described(installation: Installed | None) -> str:
    return f"latte {installation.version}".rstrip() if installation else "no latte"


def installed(host: Host) -> Installed | None:
    """Return the host's installation; None where it has none. Raises HostError."""
    path, *version = host.run(("/bin/sh", "-c", _FIND), timeout=_TIMEOUT, check=False).stdout.splitlines() or [""]
    words = " ".join(version).split()
    return Installed(path, words[-1] if words else "") if path else None


def script(spec: LoadSpec) -> str:
    """Return the text of the workload's file. It contains only numbers of the definition."""
    row = standard_row(spec.workload)
    replication = f"{{'class': 'SimpleStrategy', 'replication_factor': {spec.workload.replication_factor}}}"
    columns = ", ".join(f"{name} blob" for name in _COLUMNS)
    return _SCRIPT.format(
        rows=row.rows,
        size=row.column_size,
        keyspace=f"CREATE KEYSPACE IF NOT EXISTS keyspace1 WITH replication = {replication}",
        # Without compression, as cassandra-stress makes this table
        table=f"{_TABLE} (key blob PRIMARY KEY, {columns}) WITH compression = {{'enabled': 'false'}}",
        names=", ".join(_COLUMNS),
        markers=", ".join(f":c{number}" for number in range(5)),
        values=", ".join(f"latte::blob(latte::hash2(i, {number}), SIZE)" for number in range(5)),
        draw=_draw(row),
    )


def functions(spec: LoadSpec) -> str:
    """Return the values of `-f`: the operations with their weights."""
    row = standard_row(spec.workload)
    weights = {"write": row.write, "read": row.read}
    return ",".join(f"{name}:{weight:g}" for name, weight in weights.items() if weight)


def _draw(row: StandardRow) -> str:
    if row.keys == "sequence":
        return "i % ROWS"
    if row.keys == "uniform":
        return "latte::hash_range(i, ROWS)"
    # Definitions count keys from 1, as cassandra-stress does, and this script from 0
    drawn = f"latte::normal(i, {row.mean - 1!r}, {row.deviation!r})"
    # Keys that lie outside are clamped, as by cassandra-stress
    return f"{drawn}.clamp(0.0, {float(row.rows - 1)!r}) as i64"
