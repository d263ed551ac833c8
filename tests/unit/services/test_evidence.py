"""What an attempt left, gathered for judging."""

import zipfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta, tzinfo
from pathlib import Path

import pytest
from tests.fakes.hdr import interval_log
from tests.fakes.installation import Installation
from tests.fakes.instant.product import SilentLog
from tests.support.campaigns.running import run_missing

from plimsoll.domain.attempt.load_summary import BrokenRule, LoadSummary
from plimsoll.domain.attempt.result import Manifest, ManifestEntry
from plimsoll.domain.keys.process import CUT, EventKind
from plimsoll.domain.keys.system import LoadCommand
from plimsoll.domain.text.errors import LASTS
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.definitions.reference import parse_definition
from plimsoll.services.judge import attempt_judging, evidence
from plimsoll.services.judge.attempt_judging import judge_again
from plimsoll.services.judge.measured import judge_measured
from plimsoll.services.judge.rejudging import rejudge
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore

TEXT = """
name: campaign
title: One cell
system: {database: instant, version: 4.0.1, nodes: 3}
variants: [{id: g1, jvm: {jdk: openjdk-11.0.13, collector: G1, heap: 512M}}]
loads: [1000/s]
workload: {replication_factor: 3}
load_generator: {name: instant}
timing: {duration: 20s, warmup: 10s}
provider: {name: instant}
"""


class Strange(SilentLog):
    """A log that should tell of compactions, and has none of the lines that it should have."""

    kinds = (EventKind("compaction", "compaction"),)


class Telling(SilentLog):
    """A log that tells of the whole cluster."""

    def remarks(self, process: str, text: str, zone: tzinfo) -> Sequence[str]:
        return [f"the cluster is {text.strip()}"]


LOGS = zipfile.Path(Path(__file__).parents[2] / "samples" / "gc-logs.zip")
UNKNOWN = b"2026-11-22T04:42:09.326+0000: 9.301: [Collected garbage for 0.5 s]\n"


@pytest.fixture
def work(tmp_path: Path) -> AttemptContext:
    """Provide an attempt that was run and judged."""
    installation = Installation(tmp_path)
    installation.open_campaign(parse_definition(TEXT, "one.yaml"))
    run_missing(installation.toolkit, "campaign", "me", print)
    cells = CampaignStore(installation.toolkit.store, "campaign")
    return AttemptContext(installation.toolkit, cells.key("g1-001k-r1", 1))


def manifest_of(work: AttemptContext) -> Manifest:
    manifest = layout.MANIFEST.read(work.toolkit.store, work.key)
    assert manifest is not None
    return manifest


def test_what_logs_tell_of_the_whole_cluster_is_in_the_verdict(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work.product, "evidence", Telling(), raising=False)
    warnings = judge_measured(evidence.gather(work, manifest_of(work))).verdict.warnings
    assert warnings.count("the cluster is up") == work.part.system.nodes


def test_events_of_a_log_in_another_form_are_not_known_and_that_is_told(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work.product, "evidence", Strange(), raising=False)
    found = evidence.gather(work, manifest_of(work))
    assert found.logs.events == {}
    told = [one for one in judge_measured(found).verdict.warnings if "no line of its log is in the form" in one]
    assert [one.partition(" are not")[0] for one in told] == [f"the events of node{n}" for n in (1, 2, 3)]


def test_files_of_a_command_in_a_form_that_can_not_be_read_would_be_as_unreadable_again(work: AttemptContext) -> None:
    found = evidence.gather(work, manifest_of(work))
    assert not judge_measured(found).verdict.lasts
    choice = found.part.load_generator.model_copy(update={"command": LoadCommand(run="gen", outputs=("*.log",))})
    by_command = replace(found.part, load_generator=choice)
    garbled = replace(found, part=by_command, response_times={"load": {"a.log": b"12 requests, all fine\n"}})
    verdict = judge_measured(garbled).verdict
    assert verdict.lasts
    assert verdict.reasons[0].endswith(LASTS)
    logs = {name: text for own in found.response_times.values() for name, text in own.items()}
    readable = replace(found, part=by_command, response_times={"load": logs})
    assert not judge_measured(readable).verdict.lasts


def test_of_a_command_whose_files_tell_single_percentiles_no_others_are_asked(work: AttemptContext) -> None:
    found = evidence.gather(work, manifest_of(work))
    choice = found.part.load_generator.model_copy(update={"command": LoadCommand(run="ycsb", outputs=("*.log",))})
    by_command = replace(found.part, load_generator=choice)
    figures = "Count=10000, Max=9000, Min=149, Avg=231.21, 99=1955, 99.9=2100"
    status = "".join(
        f"2020-01-10 16:21:{20 + end}:213 {end} sec: {end}000 operations; 1000 current ops/sec; [READ: {figures}]\n"
        for end in (10, 20, 30)
    )
    told = replace(found, part=by_command, response_times={"load": {"console.log": status.encode()}})
    verdict = judge_measured(told).verdict
    assert verdict.levels[0].judged == 1, verdict.reasons
    assert "percentiles known" not in verdict.invalidated_by


def test_a_command_that_gave_up_on_one_of_two_load_hosts_has_not_met_because_the_other_went_on(
    work: AttemptContext,
) -> None:
    """It gave up a second before its time, in the last interval."""
    found = evidence.gather(work, manifest_of(work))
    choice = found.part.load_generator.model_copy(update={"command": LoadCommand(run="gen", outputs=("*.hdr",))})
    whole = found.summary.model_copy(update={"operations": {}, "answered": None})
    began = found.summary.started_at
    assert began is not None
    case = replace(
        found,
        part=replace(found.part, load_generator=choice),
        summaries={"load": whole.model_copy(update={"gave_up": "exit code 2"}), "load2": whole},
        response_times={
            host: {"a.hdr": interval_log(began.timestamp(), seconds, 500, 2_000).encode()}
            for host, seconds in {"load": 19, "load2": 25}.items()
        },
    )
    assert judge_measured(case).verdict.outcome == "invalid"


@pytest.mark.parametrize(("ended_s", "warmup_s", "failed"), [(13, 0, 7), (20, 10, 0)])
def test_a_load_that_a_rule_ended_has_figures_of_the_time_that_is_judged(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch, ended_s: int, warmup_s: int, failed: int
) -> None:
    broken = BrokenRule(seconds=ended_s, rule=0, why="too slow")
    whole = LoadSummary(complete=True, stopped=broken, errors={"read_timeout": 7})
    summary = LoadSummary(complete=True, stopped=broken, from_start=whole)
    monkeypatch.setattr(work.load_generator, "summary", lambda _: summary, raising=False)
    found = evidence.gather(work, manifest_of(work))
    assert (found.part.timing.warmup, found.summary.failed) == (timedelta(seconds=warmup_s), failed)


def test_an_account_beyond_all_measure_is_not_read_and_its_size_is_said(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = manifest_of(work)
    assert evidence.gather(work, manifest).summary.complete
    monkeypatch.setattr(evidence, "MOST_BYTES", 10)
    found = evidence.gather(work, manifest).summary
    assert not found.complete
    assert "more than 10 are not read of such a file" in found.reason


HEAD = "time_s,cpu_idle,cpu_iowait,cpu_steal,memory_available_bytes,net_received_bytes,net_sent_bytes,disk_busy"
SAMPLES = f"{HEAD},others_top\n{'1767225600.0,0.5,0,0,9000000000,1,1,0,'}\n".encode()


@pytest.mark.parametrize(
    "content",
    [b"", SAMPLES + bytes(50), SAMPLES + SAMPLES, SAMPLES.partition(b"\n")[2], HEAD[:20].encode()],
    ids=["empty", "cut off", "twice", "no header", "part of a header"],
)
def test_a_host_whose_samples_can_not_be_read_counts_as_not_sampled(work: AttemptContext, content: bytes) -> None:
    manifest, store = manifest_of(work), work.toolkit.store
    for host, samples in (("node1", content), ("node2", SAMPLES)):
        path = f"raw/{host}/host.csv"
        store.write(layout.attempt_file(work.key, path), samples)
        entry = ManifestEntry(path=path, size_bytes=len(samples), sha256="")
        manifest = manifest.model_copy(update={"files": (*manifest.files, entry)})
    found = evidence.gather(work, manifest)
    assert set(found.samples["host"]) == {"node2"}
    judged = judge_measured(found)
    assert [one for one in judged.verdict.warnings if "node1 counts as not sampled, since its host.csv can't" in one]
    assert judged.tables["hosts"]["host"].tolist() == ["node2"]


def test_an_attempt_that_judging_stumbles_over_keeps_its_verdict_and_stops_no_other(
    work: AttemptContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(_: object) -> None:
        raise KeyError("reads")

    monkeypatch.setattr(attempt_judging, "gather", lambda *_: stumble(None))
    [result] = rejudge(lambda: work.toolkit, [work.key], 1, lambda _: None)
    assert (result.before, result.after, result.failure) == ("met", None, "KeyError: 'reads'")


def test_gc_logs_that_are_missing_or_of_unknown_form_are_warnings_of_the_verdict(work: AttemptContext) -> None:
    manifest, store = manifest_of(work), work.toolkit.store
    known = (LOGS / "jdk11-g1.log").read_bytes()
    cut = f"{CUT}: there is no room\n".encode()
    for host, log in (("node1", 3 * UNKNOWN), ("node2", known + UNKNOWN + cut), ("node3", cut)):
        path = f"raw/{host}/instant/gc.log"
        store.write(layout.attempt_file(work.key, path), log)
        entry = ManifestEntry(path=path, size_bytes=len(log), sha256="")
        manifest = manifest.model_copy(update={"files": (*manifest.files, entry)})
    store.write(layout.MANIFEST.key(work.key), manifest.model_dump_json().encode())
    _, verdict = judge_again(work)
    assert verdict.valid
    assert list(evidence.gather(work, manifest).logs.pauses) == [("node2", "instant")]
    assert [warning for warning in verdict.warnings if "GC log" in warning] == [
        "the pauses of node1 are not known: its GC log shows no collection in a known form: 3 of 3 lines are of a form "
        "that is not known, the first: [Collected garbage for 0.5 s]",
        f"pauses of node2 may be missing: of its GC log, 1 of {len(known.splitlines()) + 1} lines are of a form that "
        f"is not known, the first: {UNKNOWN.decode().strip()}; its GC log was not taken whole: there is no room",
        "the pauses of node3 are not known: its GC log is empty",
    ]
