"""Rows that are counted so that they make a size on disk."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import INSTANT, Faults, InstantDatabase, InstantLoadGenerator

from plimsoll.adapters.clock import SystemClock
from plimsoll.domain.aftermath import Aftermath
from plimsoll.domain.cell import AttemptKey
from plimsoll.domain.data_size import CountedRows
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import DeployError, LoadError
from plimsoll.domain.units import parse_size
from plimsoll.domain.workload import Workload
from plimsoll.ports.host import Host, Job
from plimsoll.ports.load_generator import LoadRequest, LoadStatus
from plimsoll.services.campaign.planning import Plan
from plimsoll.services.campaign.remarks import remarks
from plimsoll.services.campaign.runnable import problems
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.collect import collect
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.cell.sizing import read_counted_rows
from plimsoll.services.judge.attempt_judging import judge
from plimsoll.services.steps.steps import step
from plimsoll.services.store.campaigns import read_cluster, read_fingerprint, read_progress
from plimsoll.services.toolkit import Toolkit
from plimsoll.strategies.matrix import running_order

FIRST = AttemptKey(campaign_id="campaign", cell_id="v1-001k-r1", attempt=1)
ROW, HEAD = 250, 10_000
"""Bytes that a row takes on each node, and those of a keyspace however many rows it has."""


class Measured(InstantDatabase):
    """Rows take as much as they are told to; what is written where, and what was dropped."""

    def __init__(self, folder: Path) -> None:
        super().__init__(Faults(folder))
        self.rows: dict[str, int] = {}
        self.dropped: list[str] = []
        self.asked = 0

    def bytes_on_disk(self, nodes: Sequence[Host], keyspace: str) -> Mapping[str, int]:
        self.asked += 1
        if keyspace not in self.rows:
            raise DeployError(f"there is no keyspace {keyspace}", where="node1")
        return {node.info.name: HEAD + ROW * self.rows[keyspace] for node in nodes}

    def drop(self, nodes: Sequence[Host], keyspace: str) -> None:
        self.dropped.append(keyspace)


class Sampling(InstantLoadGenerator):
    """Writes rows into a `Measured` database; a sample takes two looks."""

    keyspace = "data"

    def __init__(self, folder: Path, database: Measured) -> None:
        super().__init__(Faults(folder))
        self._database = database
        self.samples: dict[str, int] = {}
        self.stopped: list[str] = []
        self.expires = timedelta(0)
        self.looks = 0
        self.rate: float | None = None
        self.failure = ""

    def with_rows(self, definition: Definition, rows: int) -> Definition:
        return definition.model_copy(update={"workload": definition.workload.with_options(rows=rows)})

    def start_sample(self, host: Host, request: LoadRequest, keyspace: str) -> None:
        rows = _rows(request.definition) // request.parts
        self.samples.setdefault(request.job_id, rows)
        self._database.rows[keyspace] = rows
        host.start(Job(id=request.job_id, argv=("sample",), expires=request.expires))

    def sample_status(self, host: Host, job_id: str) -> LoadStatus:
        self.looks += 1
        if self.failure:
            return LoadStatus("failed", reason=self.failure)
        return LoadStatus("running", achieved_ops_s=self.rate) if self.looks % 2 else LoadStatus("complete")

    def start(self, host: Host, request: LoadRequest) -> None:
        self._database.rows["data"] = _rows(request.definition)
        self.expires = request.expires
        super().start(host, request)

    def stop(self, host: Host, job_id: str) -> None:
        self.stopped.append(job_id)
        super().stop(host, job_id)


def _rows(definition: Definition) -> int:
    return int(str((definition.workload.model_extra or {})["rows"]))


class Setting:
    """A campaign of four cells on one database that is measured."""

    def __init__(self, folder: Path, asked: str, populating: str | None = None) -> None:
        self.installation = Installation(folder)
        plain = instant_definition(variants=2, loads=2).model_dump(mode="json")
        workload = {"name": "StandardRow", "data_per_node": asked}
        timing = {**plain["timing"], "populating": populating}
        self.definition = Definition.model_validate({**plain, "workload": workload, "timing": timing})
        self.database = Measured(folder / "faults")
        self.generator = Sampling(folder / "faults", self.database)
        self.toolkit: Toolkit = replace(
            self.installation.toolkit,
            databases={INSTANT: self.database},
            load_generators={INSTANT: self.generator},
            clock=Hurried(),
        )
        self.installation.open_campaign(self.definition)

    def cell(self, cell_id: str) -> AttemptContext:
        """An attempt at that cell whose load was started."""
        work = begin(self.toolkit, "campaign", cell_id, "test")
        for action in (actions.provision, actions.deploy, loading.start_load):
            action(work)
        return work


class Hurried(SystemClock):
    """Waits for nothing; what it is told to wait is over."""

    def __init__(self) -> None:
        self.slept_s = 0.0

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.slept_s)

    def sleep(self, seconds: float) -> None:
        """At once."""
        self.slept_s += seconds


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path, "1G")


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
    assert setting.database.rows["data"] == counted.rows

    second = setting.cell("v2-002k-r1")
    assert read_counted_rows(second) == counted
    assert len(setting.generator.samples) == 2
    for work in (first, second):
        fingerprint = read_fingerprint(setting.toolkit.store, work.key)
        assert fingerprint is not None
        assert fingerprint.counted_rows == counted.rows


def test_where_the_first_rows_are_enough_there_is_one_sample_and_one_keyspace_is_dropped(tmp_path: Path) -> None:
    setting = Setting(tmp_path, "1M")
    counted = read_counted_rows(setting.cell("v1-001k-r1"))
    assert counted is not None
    assert list(setting.generator.samples.values()) == [counted.sample_rows] == [20_000]
    assert setting.database.dropped == ["plimsoll_sample_1"]


def test_a_start_that_was_interrupted_goes_on_with_the_same_samples_and_leaves_nothing_of_them(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(nodes: Sequence[Host], keyspace: str) -> None:
        raise DeployError("killed meanwhile", where="node1")

    with monkeypatch.context() as patch:
        patch.setattr(setting.database, "drop", fails)
        with pytest.raises(DeployError, match="killed meanwhile"):
            setting.cell("v1-001k-r1")
    assert "data" not in setting.database.rows
    work = AttemptContext(setting.toolkit, FIRST)
    counted = read_counted_rows(work)
    loading.start_load(work)
    assert read_counted_rows(work) == counted
    assert len(setting.generator.samples) == 2
    assert setting.database.dropped == ["plimsoll_sample_1", "plimsoll_sample_2"]


def test_a_cell_that_another_was_quicker_than_takes_its_rows_and_leaves_nothing_of_its_own_samples(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two first cells count at once: the other's record comes while this one measures its last sample."""
    measure = setting.database.bytes_on_disk

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

    monkeypatch.setattr(setting.database, "bytes_on_disk", is_overtaken)
    setting.cell("v1-001k-r1")
    assert setting.database.rows["data"] == 77
    assert setting.database.dropped == ["plimsoll_sample_1", "plimsoll_sample_2"]


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
    setting.database.dropped.clear()
    setting.generator.stopped.clear()
    loading.start_load(AttemptContext(setting.toolkit, FIRST))
    assert "sample-v1-001k-r1-1-1" in setting.generator.stopped
    assert "plimsoll_sample_1" in setting.database.dropped


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
    cluster = read_cluster(setting.toolkit.store, work.key)
    assert cluster is not None
    assert clock.now() + setting.generator.expires < cluster.expires_at + timedelta(seconds=30)


def test_while_it_counts_progress_says_so_and_the_log(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    def looks(host: Host, job_id: str) -> LoadStatus:
        progress = read_progress(setting.toolkit.store, FIRST)
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


def test_what_the_rows_take_is_measured_before_the_load_and_remarked_where_it_is_not_as_asked(
    setting: Setting,
) -> None:
    work = setting.cell("v1-001k-r1")
    setting.database.rows["data"] *= 2
    while loading.poll_load(work).state == "running":
        pass
    collect(work)
    (remark,) = [one for one in judge(work).warnings if "on disk" in one]
    assert remark.startswith("the populated rows take another size on disk than 1G: node1 2,04")


def test_nodes_flush_once_before_the_wait_for_compactions_which_a_flush_can_begin(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    measure = setting.database.bytes_on_disk

    def measured(nodes: Sequence[Host], keyspace: str) -> Mapping[str, int]:
        done.append(f"flush {keyspace}")
        return measure(nodes, keyspace)

    def waited(nodes: Sequence[Host]) -> Aftermath | None:
        done.append("wait")
        return Aftermath(settled=True) if done.count("wait") == 3 else None

    work = setting.cell("v1-001k-r1")
    monkeypatch.setattr(setting.database, "bytes_on_disk", measured)
    monkeypatch.setattr(setting.database, "aftermath", waited)
    while loading.poll_load(work).state == "running":
        pass
    assert done == ["flush data", "wait", "wait", "wait", "flush data"]


def test_a_size_as_asked_is_not_remarked(setting: Setting) -> None:
    work = setting.cell("v1-001k-r1")
    while loading.poll_load(work).state == "running":
        pass
    collect(work)
    assert not [one for one in judge(work).warnings if "on disk" in one]


def test_nothing_is_remarked_of_rows_that_were_never_there(setting: Setting) -> None:
    setting.generator.failure = "no connection"
    with pytest.raises(LoadError):
        setting.cell("v1-001k-r1")
    work = AttemptContext(setting.toolkit, FIRST)
    collect(work)
    assert not [one for one in judge(work).warnings if "disk" in one]


def test_a_size_of_nothing_is_refused() -> None:
    with pytest.raises(ValidationError, match="greater than 0"):
        Workload.model_validate({"name": "StandardRow", "data_per_node": "0M"})


def test_the_plan_says_what_is_counted_later_and_refuses_whoever_can_not_count(setting: Setting) -> None:
    told = list(remarks(setting.toolkit, Plan(setting.definition, running_order(setting.definition), 1)))
    assert any("make 1G on each node is not known yet" in one for one in told)
    assert not problems(setting.toolkit, setting.definition)
    found = problems(setting.installation.toolkit, setting.definition)
    assert {one.where for one in found} == {"workload.data_per_node"}


def test_rows_that_can_not_be_populated_in_time_fail_each_cell_before_it_populates(setting: Setting) -> None:
    setting.generator.rate = 1000.0  # of 4.3 million rows
    for cell_id in ("v1-001k-r1", "v2-001k-r1"):
        with pytest.raises(
            LoadError, match=r"would take 1:11:3\d or longer at 1,000 rows/s.*it may take 1:00:00"
        ) as error:
            setting.cell(cell_id)
        assert "timing.populating" in error.value.mend
    assert "data" not in setting.database.rows
    assert setting.database.dropped == ["plimsoll_sample_1", "plimsoll_sample_2"]


def test_populating_has_the_time_that_the_definition_gives_it_and_hosts_live_as_much_longer(tmp_path: Path) -> None:
    usual, patient = Setting(tmp_path / "usual", "1G"), Setting(tmp_path / "patient", "1G", populating="3h")
    patient.generator.rate = 1000.0
    (first, given) = (setting.cell("v1-001k-r1") for setting in (usual, patient))
    assert "data" in patient.database.rows
    assert life_of_hosts(given) - life_of_hosts(first) == timedelta(hours=3)
    polling = step("load").polling
    assert polling is not None
    duration = patient.definition.timing.duration
    assert polling.longest(patient.definition) == duration + timedelta(hours=3)
    assert polling.longest(usual.definition) == duration + timedelta(hours=1)


def life_of_hosts(work: AttemptContext) -> timedelta:
    """From the attempt's start until its hosts end themselves."""
    cluster = read_cluster(work.toolkit.store, work.key)
    assert cluster is not None
    return cluster.expires_at - work.attempt().started_at


def test_a_definition_that_gives_populating_no_time_is_stored_as_ever(setting: Setting) -> None:
    assert "populating" not in setting.definition.model_dump(mode="json")["timing"]


def test_the_plan_says_how_long_populating_may_take(tmp_path: Path) -> None:
    def told(setting: Setting) -> list[str]:
        plan = Plan(setting.definition, running_order(setting.definition), 1)
        return [one for one in remarks(setting.toolkit, plan) if one.startswith("populating may take")]

    usual, patient = Setting(tmp_path / "usual", "1G"), Setting(tmp_path / "patient", "1G", populating="3h")
    assert told(usual) == ["populating may take 1h in each cell: write `timing.populating` for more"]
    assert told(patient) == ["populating may take 3h in each cell, and hosts live as much longer"]


def test_a_sample_that_takes_nothing_on_disk_fails_the_load(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setting.database, "bytes_on_disk", lambda *_: {"node1": 0})
    with pytest.raises(LoadError, match="a sample of 20,000 rows takes nothing on disk"):
        setting.cell("v1-001k-r1")
    assert read_counted_rows(AttemptContext(setting.toolkit, FIRST)) is None
