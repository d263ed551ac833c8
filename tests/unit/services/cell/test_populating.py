"""Populated rows are measured before the load, and have a time of their own."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from tests.support.resolved import only_part
from tests.unit.services.cell.sized_campaign import FIRST, Setting

from plimsoll.domain.attempt.load_summary import LeftoverWork
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.text.errors import LoadError
from plimsoll.ports.host import Host
from plimsoll.services.campaign.open.planning import Plan
from plimsoll.services.campaign.open.remarks import remarks
from plimsoll.services.cell import loading
from plimsoll.services.cell.collect import collect
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.judge.attempt_judging import judge
from plimsoll.services.steps.steps import step
from plimsoll.services.store import layout
from plimsoll.strategies.matrix import running_order


def test_what_the_rows_take_is_measured_before_the_load_and_remarked_where_it_is_not_as_asked(
    setting: Setting,
) -> None:
    work = setting.cell("v1-001k-r1")
    setting.product.rows["data"] *= 2
    while loading.poll_load(work).state == "running":
        pass
    collect(work)
    (remark,) = [one for one in judge(work).warnings if "on disk" in one]
    assert remark.startswith("the populated rows take another size on disk than 1G: node1 2,04")


def test_nodes_flush_once_before_the_wait_for_compactions_which_a_flush_can_begin(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    measure = setting.product.bytes_on_disk

    def measured(nodes: Sequence[Host], keyspace: str) -> Mapping[str, int]:
        done.append(f"flush {keyspace}")
        return measure(nodes, keyspace)

    def waited(nodes: Sequence[Host], job_id: str) -> LeftoverWork | None:
        done.append("wait")
        return LeftoverWork(settled=True) if done.count("wait") == 3 else None

    work = setting.cell("v1-001k-r1")
    monkeypatch.setattr(setting.product, "bytes_on_disk", measured)
    monkeypatch.setattr(setting.product, "leftover_work", waited)
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


def test_rows_that_can_not_be_populated_in_time_fail_each_cell_before_it_populates(setting: Setting) -> None:
    setting.generator.rate = 1000.0  # of 4.3 million rows
    for cell_id in ("v1-001k-r1", "v2-001k-r1"):
        with pytest.raises(
            LoadError, match=r"would take 1:11:3\d or longer at 1,000 rows/s.*it may take 1:00:00"
        ) as error:
            setting.cell(cell_id)
        assert "timing.populating" in error.value.mend
    assert "data" not in setting.product.rows
    assert setting.product.dropped == ["plimsoll_sample_1", "plimsoll_sample_2"]


def test_populating_has_the_time_that_the_definition_gives_it_and_hosts_live_as_much_longer(tmp_path: Path) -> None:
    usual, patient = Setting(tmp_path / "usual", "1G"), Setting(tmp_path / "patient", "1G", populating="3h")
    patient.generator.rate = 1000.0
    (first, given) = (setting.cell("v1-001k-r1") for setting in (usual, patient))
    assert "data" in patient.product.rows
    assert life_of_hosts(given) - life_of_hosts(first) == timedelta(hours=3)
    polling = step("load").polling
    assert polling is not None
    duration = patient.definition.timing.duration
    assert polling.longest(only_part(patient.definition)) == duration + timedelta(hours=3)
    assert polling.longest(only_part(usual.definition)) == duration + timedelta(hours=1)


def life_of_hosts(work: AttemptContext) -> timedelta:
    """From the attempt's start until its hosts end themselves."""
    cluster = layout.CLUSTER.read(work.toolkit.store, work.key)
    assert cluster is not None
    return cluster.expires_at - work.attempt().started_at


def test_a_definition_that_gives_populating_no_time_is_stored_as_ever(setting: Setting) -> None:
    assert "populating" not in setting.definition.model_dump(mode="json")["timing"]


def test_the_plan_says_how_long_populating_may_take(tmp_path: Path) -> None:
    def told(setting: Setting) -> list[str]:
        plan = Plan(resolve(setting.definition), running_order(resolve(setting.definition)), 1)
        return [one for one in remarks(setting.toolkit, plan) if one.startswith("populating may take")]

    usual, patient = Setting(tmp_path / "usual", "1G"), Setting(tmp_path / "patient", "1G", populating="3h")
    assert told(usual) == ["populating may take 1h in each cell: write `timing.populating` for more"]
    assert told(patient) == ["populating may take 3h in each cell, and its hosts live as much longer"]
