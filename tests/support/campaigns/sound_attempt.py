"""A sound attempt and a sound campaign, for tests to spoil one thing of."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pandas as pd

from plimsoll.domain.attempt.load_summary import LoadSummary
from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.campaign.cell import AttemptKey, Cell
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.fingerprint import Fingerprint, HostFacts, JvmFacts, NodeFingerprint, ProcessFingerprint
from plimsoll.domain.keys.process import Process
from plimsoll.domain.keys.service_level import LevelVerdict
from plimsoll.quality.attempt_checks import MeasuredAttempt

GIB = 1 << 30
STARTED_AT = datetime(2026, 1, 1, tzinfo=UTC)
CELL = Cell(variant="g1", load_ops_s=1000, repeat=1)
HOST = HostFacts(
    os="Linux 6",
    kernel="6.1.0",
    cpu_model="a processor",
    cpus=2,
    memory_bytes=16 * GIB,
    page_size_bytes=4096,
    transparent_huge_pages="madvise",
    shared_huge_pages="advise",
    data_disk="Amazon EC2 NVMe Instance Storage, 300 GB",
    data_disk_device="/dev/nvme1n1",
)


def definition(**changes: object) -> Definition:
    """Return a definition of two variants, two loads, two repeats; 10 s of warm-up and three judged intervals; at most
    100 in flight.
    """
    content: dict[str, object] = {
        "name": "demo",
        "title": "G1 and ZGC",
        "system": {"version": "4.0.1"},
        "variants": [_variant("g1", "G1"), _variant("zgc", "ZGC")],
        "loads": ["1000/s", "2000/s"],
        "repeats": 2,
        "load_generator": {"threads": 2, "concurrency": 50},
        "timing": {"duration": "40s", "warmup": "10s"},
    }
    return Definition.model_validate(content | changes)


def intervals() -> pd.DataFrame:
    """Return one interval of warm-up and three judged ones, for all operations, reads and writes."""
    shares = {"all": 1.0, "reads": 0.2, "writes": 0.8}
    rows = [
        {
            "start_s": start_s,
            "duration_s": 10.0,
            "phase": "judged" if start_s >= 10 else "warm-up",
            "operation": operation,
            "count": int(10_000 * share),
            "rate_ops_s": 1000.0 * share,
            "p50_ms": 1.0,
            "p90_ms": 2.0,
            "p99_ms": 5.0,
            "p99_9_ms": 9.0,
            "max_ms": 12.0,
            "judged_ms": 9.0,
            "met": True if operation == "all" and start_s >= 10 else None,
            "failed": 0,
        }
        for start_s in (0.0, 10.0, 20.0, 30.0)
        for operation, share in shares.items()
    ]
    return pd.DataFrame(rows).astype({"met": "boolean"})


def summary(**changes: object) -> LoadSummary:
    """Return the generator's account of a run without any trouble."""
    content: dict[str, object] = {
        "complete": True,
        "started_at": STARTED_AT,
        "duration_s": 40.0,
        "warmup_s": 10.0,
        "attempted_ops_s": 1000,
        "achieved_ops_s": 1000,
        "operations": {"reads": 6000, "writes": 24_000},
        "cpu_cores": 0.5,
        "schedule_lag_p99_ms": 0.2,
        "schedule_lag_max_ms": 4.0,
        "hiccup_max_ms": 3.0,
        "in_flight_max": 9,
    }
    return LoadSummary.model_validate(content | changes)


def node(host: str = "node1", *, facts: HostFacts = HOST, release: str = "4.0.1", **jvm: object) -> NodeFingerprint:
    """Return a node that runs what the variant `g1` asks for."""
    content: dict[str, object] = {
        "version": "11.0.13+8",
        "vendor": "Eclipse Adoptium",
        "name": "OpenJDK 64-Bit Server VM",
        "collector": "G1",
        "collector_beans": ("G1 Young Generation",),
        "heap_max_bytes": GIB // 2,
        "arguments": ("-Xmx512M", "-XX:MaxGCPauseMillis=300", "-Xlog:gc:file=/data/node1/gc.log"),
        "flags": {"MaxHeapSize": str(GIB // 2), "HeapDumpPath": f"/data/{host}/dump"},
    }
    return NodeFingerprint(
        host=host,
        address="127.0.0.1",
        facts=facts,
        processes=(ProcessFingerprint(name="cassandra", jvm=JvmFacts.model_validate(content | jvm)),),
        database="cassandra",
        database_version=release,
    )


def fingerprint(*nodes: NodeFingerprint, **changes: object) -> Fingerprint:
    """Return a fingerprint of those nodes, or of three alike."""
    alike = tuple(node(f"node{number}") for number in (1, 2, 3))
    whole = Fingerprint(nodes=nodes or alike, load_host=HOST, load_generator="plimsoll-stress 0.1.0")
    return whole.model_copy(update=changes)


def samples(*, available: Sequence[float] = (8.0, 7.0, 8.0), steal: Sequence[float] = (0.0, 0.01, 0.0)) -> pd.DataFrame:
    """Return samples of the load host in every judged second, one value for each of the three intervals; memory
    in GiB.
    """
    return pd.DataFrame(
        {
            "host": "load",
            "time_s": [STARTED_AT.timestamp() + 10 + second for second in range(1, 31)],
            "memory_available_bytes": [value * GIB for value in available for _ in range(10)],
            "cpu_steal": [share for share in steal for _ in range(10)],
        }
    )


def measured(**changes: object) -> MeasuredAttempt:
    """Return a sound attempt at CELL."""
    content: dict[str, object] = {
        "intervals": intervals(),
        "summary": summary(),
        "fingerprint": fingerprint(),
        "processes": [Process("cassandra", resolve(definition()).variant(CELL.variant).jvm)],
        "samples": samples(),
    }
    return MeasuredAttempt(**(content | changes))  # type: ignore[arg-type]


def verdict(cell: Cell, *, attempt: int = 1, valid: bool = True, worst_ms: float = 10.0, rate: float = 1.0) -> Verdict:
    """Return an attempt that met its service level; `rate` is achieved over attempted."""
    level = LevelVerdict(
        service_level=definition().service_levels[0], met=True, judged=3, missed=0, not_judged=0, worst_ms=worst_ms
    )
    return Verdict(
        key=AttemptKey(campaign_id="demo-1", cell_id=cell.id, attempt=attempt),
        cell=cell,
        valid=valid,
        met=True if valid else None,
        levels=(level,),
        attempted_ops_s=cell.load_ops_s,
        achieved_ops_s=cell.load_ops_s * rate,
        rate_achieved=True,
        code_version="1",
    )


def _variant(name: str, collector: str) -> dict[str, object]:
    jvm = {"jdk": "openjdk-11.0.13", "collector": collector, "heap": "512M", "flags": ["-XX:MaxGCPauseMillis=300"]}
    return {"id": name, "jvm": jvm}
