from datetime import UTC, datetime, timedelta

import pytest
from tests.fakes.installation import Installation, instant_definition

from plimsoll.domain.attempt.result import Manifest, ManifestEntry, Verdict
from plimsoll.domain.campaign.cell import AttemptKey, Cell
from plimsoll.domain.hosts.fingerprint import ReportedNode
from plimsoll.domain.keys.service_level import LevelVerdict, ServiceLevel
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll_airflow.runs import log_messages

KEY = AttemptKey(campaign_id="campaign", cell_id="v1-001k-r1", attempt=2)
VERDICT = Verdict(
    key=KEY,
    cell=Cell(variant="v1", load_ops_s=1000, repeat=1),
    valid=True,
    met=False,
    attempted_ops_s=1000,
    achieved_ops_s=998.26,
    rate_achieved=True,
    levels=(LevelVerdict(service_level=ServiceLevel(), met=False, judged=12, missed=2, not_judged=0, worst_ms=312.04),),
    code_version="test",
)


def test_provisioning_tells_addresses_and_expiry(installation: Installation) -> None:
    installation.open_campaign(instant_definition())
    cluster = actions.provision(begin(installation.toolkit, "campaign", "v1-001k-r1", "owner"))

    lines = list(log_messages.provisioned(cluster))

    assert lines[0] == "node1 (node) at 127.9.9.1"
    assert lines[3] == "load (load) at 127.9.9.100"
    assert lines[-1].startswith(f"the hosts end themselves at {cluster.expires_at:%Y-%m-%d %H:%M} UTC")


def test_deployment_tells_what_the_running_jvms_report(installation: Installation) -> None:
    installation.open_campaign(instant_definition())
    work = begin(installation.toolkit, "campaign", "v1-001k-r1", "owner")
    actions.provision(work)

    lines = list(log_messages.deployed(actions.deploy(work)))

    assert lines[0] == (
        "node1 at 127.9.9.1: instant 4.0.1 on OpenJDK 64-Bit Server VM 11.0.13+8, collector G1, heap 512M"
    )
    assert "flags reported by the running JVM: MaxHeapSize=536870912" in lines


def test_of_a_database_that_somebody_else_runs_its_own_word_is_told(installation: Installation) -> None:
    installation.open_campaign(instant_definition())
    work = begin(installation.toolkit, "campaign", "v1-001k-r1", "owner")
    actions.provision(work)
    told = ReportedNode(address="db:5432", data_centre="", rack="", release_version="15.3")
    fingerprint = actions.deploy(work).model_copy(update={"nodes": (), "reported_nodes": (told,)})

    lines = list(log_messages.deployed(fingerprint))

    assert lines[0] == "db:5432: release 15.3, by the database's own word"


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (LoadStatus("running", "populate"), "populate: no rate yet"),
        (
            LoadStatus("running", "populate", achieved_ops_s=61_234, seconds_left=9),
            "populate: 61,234 ops/s, 9 s left",
        ),
        (LoadStatus("running", "warm-up"), "warm-up: no rate yet of 40,000 attempted"),
        (
            LoadStatus("running", "load", achieved_ops_s=39_876.4, seconds_left=75.2),
            "load: 39,876 ops/s of 40,000 attempted, 1 min 15 s left",
        ),
        (
            LoadStatus("running", "warm-up", achieved_ops_s=40_000, seconds_left=9),
            "warm-up: 40,000 ops/s of 40,000 attempted, 9 s left",
        ),
    ],
)
def test_progress_is_one_line(status: LoadStatus, line: str) -> None:
    assert log_messages.loading(status, 40_000) == line


def test_after_its_end_a_load_says_what_it_waits_for_and_not_that_0_s_are_left() -> None:
    note = "its time is over: waiting at most 22 s for the answers to 12 operations"
    status = LoadStatus("running", "load", achieved_ops_s=50.0, seconds_left=0.0, note=note)
    assert log_messages.loading(status, 50) == f"load: 50 ops/s of 50 attempted; {note}"


def test_collecting_tells_size_and_failure() -> None:
    files = (ManifestEntry(path="raw/a", size_bytes=3 * 2**20, sha256="0"),)
    manifest = Manifest(key=KEY, files=files, failure="load: out of memory", written_at=datetime.now(UTC))

    assert list(log_messages.collected(manifest)) == [
        "1 file, 3.0 MiB",
        "the attempt did not complete: load: out of memory",
    ]


def test_a_valid_verdict_says_met_or_missed() -> None:
    assert list(log_messages.judged(VERDICT)) == [
        "achieved 998.3 of 1,000 ops/s",
        "p99.9 of every 10s interval below 100ms: missed, 2 of 12 intervals missed it, worst 312.0 ms",
        "missed: cell v1-001k-r1, attempt 2",
    ]


def test_a_level_that_no_interval_missed_and_not_all_met_is_left_open() -> None:
    (level,) = VERDICT.levels
    left_open = VERDICT.model_copy(update={"levels": (level.model_copy(update={"missed": 0, "worst_ms": None}),)})
    assert (
        "below 100ms: left open, 0 of 12 intervals missed it, worst not known" in [*log_messages.judged(left_open)][1]
    )


def test_an_invalid_verdict_says_why_first() -> None:
    invalid = VERDICT.model_copy(
        update={"valid": False, "met": None, "levels": (), "reasons": ("a gap", "a node died"), "achieved_ops_s": None}
    )

    assert list(log_messages.judged(invalid)) == ["invalid: a gap; a node died", "achieved unknown of 1,000 ops/s"]


def test_durations_round_to_seconds() -> None:
    status = LoadStatus("running", "load", achieved_ops_s=1, seconds_left=timedelta(hours=2).total_seconds() + 0.4)

    assert log_messages.loading(status, 1).endswith("120 min 0 s left")
