"""Rows are counted so that they make a size on disk."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError
from tests.unit.services.cell.sized_campaign import FIRST, ROW, Setting

from plimsoll.domain.attempt.populated_data import CountedRows
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.keys.workload import Workload
from plimsoll.domain.text.errors import DeployError, LoadError
from plimsoll.domain.text.units import parse_size
from plimsoll.ports.host import Host
from plimsoll.ports.load_generator import LoadStatus
from plimsoll.services.campaign.open.planning import Plan
from plimsoll.services.campaign.open.remarks import remarks
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.cell import loading
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.sizing import read_counted_rows
from plimsoll.services.store import layout
from plimsoll.strategies.matrix import running_order


def test_the_first_cell_counts_by_a_sample_that_is_large_enough_and_all_cells_have_as_many_rows(
    setting: Setting,
) -> None:
    first = setting.cell("v1-001k-r1")
    counted = read_counted_rows(first)
    assert counted is not None
    first_rows, spread = setting.generator.samples.values()
    assert (first_rows, spread) == (20_000, pytest.approx(counted.sample_rows, abs=1))
    assert counted.sample_bytes == pytest.approx(parse_size("1G") / 10, rel=0.01)
    assert counted.rows * ROW == pytest.approx(parse_size("1G"), rel=0.001)
    assert setting.product.rows["data"] == counted.rows

    second = setting.cell("v2-002k-r1")
    assert read_counted_rows(second) == counted
    assert len(setting.generator.samples) == 2
    for work in (first, second):
        fingerprint = layout.FINGERPRINT.read(setting.toolkit.store, work.key)
        assert fingerprint is not None
        assert fingerprint.counted_rows == counted.rows


def test_where_the_first_rows_are_enough_there_is_one_sample_and_one_keyspace_is_dropped(tmp_path: Path) -> None:
    setting = Setting(tmp_path, "1M")
    counted = read_counted_rows(setting.cell("v1-001k-r1"))
    assert counted is not None
    assert list(setting.generator.samples.values()) == [counted.sample_rows] == [20_000]
    assert setting.product.dropped == ["plimsoll_sample_1"]


def test_a_start_that_was_interrupted_goes_on_with_the_same_samples_and_leaves_nothing_of_them(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(nodes: Sequence[Host], keyspace: str) -> None:
        raise DeployError("killed meanwhile", where="node1")

    with monkeypatch.context() as patch:
        patch.setattr(setting.product, "drop", fails)
        with pytest.raises(DeployError, match="killed meanwhile"):
            setting.cell("v1-001k-r1")
    assert "data" not in setting.product.rows
    work = AttemptContext(setting.toolkit, FIRST)
    counted = read_counted_rows(work)
    loading.start_load(work)
    assert read_counted_rows(work) == counted
    assert len(setting.generator.samples) == 2
    assert setting.product.dropped == ["plimsoll_sample_1", "plimsoll_sample_2"]


def test_a_cell_that_another_was_quicker_than_takes_its_rows_and_leaves_nothing_of_its_own_samples(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two first cells count at once: the other's record comes while this one measures its last sample."""
    measure = setting.product.bytes_on_disk

    def is_overtaken(nodes: Sequence[Host], keyspace: str) -> Mapping[str, int]:
        if keyspace == "plimsoll_sample_2":
            other = CountedRows(
                rows=77,
                asked_bytes=parse_size("1G"),
                sample_rows=1,
                sample_bytes=1,
                cell="v2-001k-r1",
                attempt=1,
                measured_at=datetime.now(UTC),
            )
            assert setting.toolkit.store.create("campaign/rows/workload.json", other.model_dump_json().encode())
        return measure(nodes, keyspace)

    monkeypatch.setattr(setting.product, "bytes_on_disk", is_overtaken)
    setting.cell("v1-001k-r1")
    assert setting.product.rows["data"] == 77
    assert setting.product.dropped == ["plimsoll_sample_1", "plimsoll_sample_2"]


def test_a_sample_of_a_process_that_was_killed_is_ended_where_another_cell_counted_meanwhile(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(host: Host, job_id: str) -> LoadStatus:
        raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr(setting.generator, "sample_status", dies)
        with pytest.raises(InterruptedError):
            setting.cell("v1-001k-r1")
    setting.cell("v2-001k-r1")
    setting.product.dropped.clear()
    setting.generator.stopped.clear()
    loading.start_load(AttemptContext(setting.toolkit, FIRST))
    assert "sample-v1-001k-r1-1-1" in setting.generator.stopped
    assert "plimsoll_sample_1" in setting.product.dropped


def test_all_samples_together_have_twenty_minutes_which_is_less_than_the_step_has(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = setting.toolkit.clock
    begun = clock.now()

    def slow(host: Host, job_id: str) -> LoadStatus:
        is_first = job_id.endswith("-1-1")
        return LoadStatus("complete" if is_first and clock.now() - begun > timedelta(minutes=15) else "running")

    monkeypatch.setattr(setting.generator, "sample_status", slow)
    with pytest.raises(LoadError, match="rows could not be counted within 0:20:00"):
        setting.cell("v1-001k-r1")
    assert timedelta(minutes=19) < clock.now() - begun < timedelta(minutes=21)


def test_the_load_is_to_end_with_its_hosts_however_long_counting_took(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = setting.toolkit.clock
    begun = clock.now()

    def takes_ten_minutes(host: Host, job_id: str) -> LoadStatus:
        return LoadStatus("running" if clock.now() - begun < timedelta(minutes=10) else "complete")

    monkeypatch.setattr(setting.generator, "sample_status", takes_ten_minutes)
    work = setting.cell("v1-001k-r1")
    cluster = layout.CLUSTER.read(setting.toolkit.store, work.key)
    assert cluster is not None
    assert clock.now() + setting.generator.expires < cluster.expires_at + timedelta(seconds=30)


def test_while_it_counts_progress_says_so_and_the_log(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    def looks(host: Host, job_id: str) -> LoadStatus:
        progress = layout.PROGRESS.read(setting.toolkit.store, FIRST)
        seen.append(progress.note if progress else "")
        return LoadStatus("running" if len(seen) < 2 else "complete")

    monkeypatch.setattr(setting.generator, "sample_status", looks)
    with caplog.at_level("INFO", "plimsoll"):
        setting.cell("v1-001k-r1")
    assert seen[1] == "counting how many rows make 1G on each node: a sample of 20,000"
    assert seen[1] in caplog.messages


def test_a_sample_that_can_not_be_written_fails_the_load_and_nothing_is_on_record(setting: Setting) -> None:
    setting.generator.failure = "no connection"
    with pytest.raises(LoadError, match="no connection"):
        setting.cell("v1-001k-r1")
    assert read_counted_rows(AttemptContext(setting.toolkit, FIRST)) is None


def test_a_size_of_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="greater than 0"):
        Workload.model_validate({"name": "StandardRow", "data_per_node": "0M"})


def test_the_plan_says_what_is_counted_later_and_refuses_whoever_can_not_count(setting: Setting) -> None:
    told = list(
        remarks(setting.toolkit, Plan(resolve(setting.definition), running_order(resolve(setting.definition)), 1))
    )
    assert any("make 1G on each node is not known yet" in one for one in told)
    assert not problems(setting.toolkit, setting.definition)
    found = problems(setting.installation.toolkit, setting.definition)
    assert {one.where for one in found} == {"workload.data_per_node"}


def test_a_sample_that_takes_nothing_on_disk_fails_the_load(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setting.product, "bytes_on_disk", lambda *_: {"node1": 0})
    with pytest.raises(LoadError, match="a sample of 20,000 rows takes nothing on disk"):
        setting.cell("v1-001k-r1")
    assert read_counted_rows(AttemptContext(setting.toolkit, FIRST)) is None
