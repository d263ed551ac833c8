"""A sound attempt at a cell of the demo, for tests to spoil."""

from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

from plimsoll.domain.fingerprint import Fingerprint, HostFacts, JvmFacts, NodeFingerprint
from plimsoll.domain.load_summary import LoadSummary
from plimsoll.quality.attempt import Measured
from plimsoll.services.definitions import parse_definition

GIB = 1 << 30
HOST = HostFacts(
    os="Linux",
    kernel="6",
    cpu_model="cpu",
    cpus=2,
    memory_bytes=16 * GIB,
    page_size_bytes=4096,
    transparent_huge_pages="madvise",
)


@pytest.fixture(scope="session")
def definition():
    path = Path(__file__).parents[3] / "include" / "campaigns" / "demo.yaml"
    return parse_definition(path.read_text(), path.name)


@pytest.fixture
def summary():
    return LoadSummary(
        complete=True,
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        attempted_ops_s=200,
        achieved_ops_s=200,
        operations={"reads": 1200, "writes": 4800},
        in_flight_max=7,
    )


@pytest.fixture
def intervals():
    row = {"phase": "judged", "operation": "all", "duration_s": 10.0, "count": 2000, "rate_ops_s": 200.0}
    percentiles = {"p50_ms": 1.0, "p90_ms": 2.0, "p99_ms": 5.0, "p99_9_ms": 9.0, "max_ms": 12.0, "judged_ms": 9.0}
    return pd.DataFrame([{**row, **percentiles, "start_s": 10.0 * n, "met": True} for n in (1, 2, 3)])


@pytest.fixture
def fingerprint():
    return Fingerprint(nodes=[node(f"node{n}") for n in (1, 2, 3)], load_host=HOST, load_generator="stress 1")


@pytest.fixture
def measured(intervals, summary, fingerprint):
    samples = pd.DataFrame({"memory_available_bytes": [8 * GIB, 7 * GIB], "cpu_steal": [0.0, 0.01]})
    return Measured(intervals, summary, fingerprint, samples)


def node(host: str, **changes) -> NodeFingerprint:
    facts = {
        "version": "11.0.13+8",
        "vendor": "Temurin",
        "name": "OpenJDK",
        "collector": "G1",
        "collector_beans": ("G1 Young Generation",),
        "heap_max_bytes": 512 << 20,
        "arguments": (),
        "flags": {"MaxHeapSize": str(512 << 20)},
        **changes,
    }
    return NodeFingerprint(
        host=host,
        address="127.0.0.1",
        facts=HOST,
        jvm=JvmFacts.model_validate(facts),
        database="cassandra",
        database_version="4.0.1",
    )
