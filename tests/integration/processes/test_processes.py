"""A cell on nodes that run two JVMs and a program without one, from real processes to its report."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.fakes.installation import Installation
from tests.fakes.instant import NoSampler
from tests.integration.processes.product import THREE, ThreeProcesses
from tests.integration.stress.program import compile_java
from tests.support.campaigns.running import run_missing
from tests.support.nodes.even import EvenProvider
from tests.support.processes import end_marked

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.clock import SystemClock
from plimsoll.analysis.campaign.cell_results import AttemptData
from plimsoll.domain.attempt.result import Manifest
from plimsoll.ports.artefacts import OWN_JDK
from plimsoll.services.definitions.reference import parse_definition
from plimsoll.services.publish.publishing import pass_gate, publish_report
from plimsoll.services.publish.results import attempt_data
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.layout import attempt_file, report_key
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings

TEXT = """
name: processes
title: Three processes a node
system: {database: three, version: 4.0.1, nodes: 2}
variants: [{id: g1, jvm: {jdk: openjdk-11.0.13, collector: G1, heap: 32M, flags: ["-XX:MaxGCPauseMillis=90"]}}]
loads: [1000/s]
workload: {replication_factor: 2, load_s: 6}
load_generator: {name: instant}
timing: {duration: 6s, warmup: 1s}
service_levels: [{percentile: 99, interval: 1s, below: 1ms}]
provider: {name: local}
disturbance: {foreign_cpu: 100%, steal: 100%, throttled: 100%, tries: 1}
"""
CELL = "g1-001k-r1"
NODES, JVMS = ("node1", "node2"), {"region-server": "G1", "data-node": "Serial"}
ALL = {*JVMS, "gateway"}


@dataclass(frozen=True)
class EndedCell:
    """The one attempt of a campaign, and the campaign's report."""

    tools: Toolkit
    manifest: Manifest
    data: AttemptData
    page: str

    def raw(self, path: str) -> str:
        return self.tools.store.read(attempt_file(self.manifest.key, f"raw/{path}")).decode()


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> EndedCell:
    folder = tmp_path_factory.mktemp("processes")
    artefacts = Artefacts(Settings().cache, print)
    java = artefacts.jdk(OWN_JDK).java
    compile_java(artefacts, folder, Path(__file__).with_name("Churn.java"), str(folder / "classes"))
    installation = Installation(folder)
    own, work = installation.toolkit, folder / "work"
    tools = replace(
        own,
        providers={"local": EvenProvider(work, SystemClock(), claims=folder / "claims")},
        products={THREE: ThreeProcesses(java, folder / "classes", installation.faults)},
        sampler=NoSampler(),
    )
    installation.open_campaign(parse_definition(TEXT, "processes.yaml"))
    try:
        run_missing(tools, "campaign", "me", print)
    finally:
        end_marked("PLIMSOLL_WORK", str(work))
    pass_gate(tools, "campaign", [])
    publish_report(tools, "campaign")
    key = CampaignStore(tools.store, "campaign").key(CELL, 1)
    manifest, verdict = layout.MANIFEST.read(tools.store, key), layout.VERDICT.read(tools.store, key)
    assert manifest is not None
    assert verdict is not None
    page = tools.store.read(report_key("campaign")).decode()
    return EndedCell(tools, manifest, attempt_data(tools.store, verdict), page)


def test_files_of_one_name_are_kept_of_each_process(ran: EndedCell) -> None:
    assert ran.manifest.failure is None
    logs = {entry.path for entry in ran.manifest.files if entry.path.endswith("gc.log")}
    assert logs == {f"raw/{node}/{process}/gc.log" for node in NODES for process in JVMS}
    assert all(f"Using {name}" in ran.raw(f"node1/{process}/gc.log") for process, name in JVMS.items())
    assert {ran.raw("node1/gateway/settings.txt"), ran.raw("node1/gateway/settings.txt~2")} == {
        "settings.txt",
        "old/settings.txt",
    }


def test_the_fingerprint_tells_of_each_process(ran: EndedCell) -> None:
    assert ran.data.fingerprint is not None
    for node in ran.data.fingerprint.nodes:
        found = {one.name: one.jvm.collector if one.jvm else None for one in node.processes}
        assert found == {**JVMS, "gateway": None}


def test_each_process_is_checked_against_what_it_was_to_run_in(ran: EndedCell) -> None:
    checks = {check.name: check for check in ran.data.verdict.checks}
    of_jvms = {f"{name}: {check}" for name in JVMS for check in ("collector", "heap", "JDK", "JVM flags")}
    assert {name for name in checks if ": " in name} == {*of_jvms, "gateway: JVM"}
    assert all(checks[name].result == "passed" for name in (*of_jvms, "gateway: JVM", "nodes up"))
    assert ran.data.verdict.valid, ran.data.verdict.reasons


def test_pauses_causes_and_log_lines_are_of_processes(ran: EndedCell) -> None:
    jvms = {(node, process) for node in NODES for process in JVMS}
    assert set(zip(ran.data.pauses["host"], ran.data.pauses["process"], strict=True)) == jvms
    assert set(zip(ran.data.jvms["host"], ran.data.jvms["process"], strict=True)) == jvms
    assert set(ran.data.coincidences["pause_process"]) - {""} <= set(JVMS)
    assert set(ran.data.coincidences["flush_process"]) - {""} <= ALL
    assert set(ran.data.coincidences["flush_process"]) & ALL
    assert set(ran.data.log_lines["process"]) == ALL


def test_the_report_names_each_process(ran: EndedCell) -> None:
    for process in JVMS:
        assert f"{process}: collector" in ran.page
        assert f", {process}</th>" in ran.page
    # Of each missed interval the longest pause is shown, whichever process had it.
    intervals = ran.data.coincidences
    touched = intervals[intervals["missed"] & (intervals["pause"] >= 1.0)]
    places = set(zip(touched["pause_host"], touched["pause_process"], strict=True))
    assert places
    assert all(f"({host} {process})" in ran.page for host, process in places)
    assert "gateway: JVM" in ran.page
    assert "gateway: version" in ran.page
    assert all(f"{node} {process}: " in ran.page for node in NODES for process in ALL)
