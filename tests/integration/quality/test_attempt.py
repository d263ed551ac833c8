"""The attempt's suites on real Great Expectations: a sound attempt passes, each fault is found and named."""

from dataclasses import replace

import pandas as pd
import pytest
from tests.integration.quality.conftest import GIB, node

from plimsoll.domain.cell import Cell
from plimsoll.quality.attempt import check_attempt

CELL = Cell(variant="g1", load_ops_s=200, repeat=1)


def failed(quality) -> dict[str, str]:
    return {check.name: check.observed for check in quality.checks if not check.success}


def test_a_sound_attempt_passes_every_check(definition, measured):
    quality = check_attempt(definition, CELL, measured)
    assert failed(quality) == {}
    assert quality.reasons == quality.warnings == ()
    assert len(quality.checks) >= 15


def test_the_data_docs_are_pages_that_fetch_nothing(definition, measured):
    pages = check_attempt(definition, CELL, measured).data_docs
    assert set(pages) == {"intervals.html", "run.html", "environment.html"}
    assert "p99_9_ms" in pages["intervals.html"].decode()
    for page in pages.values():
        text = page.decode()
        assert "<script" not in text
        assert "<link" not in text
        assert 'src="http' not in text
        assert 'href="http' not in text
        assert len(page) < 100_000


@pytest.mark.parametrize(
    ("column", "value", "check"),
    [
        ("count", 0, "operations"),
        ("count", None, "count known"),
        ("p50_ms", 3.0, "p50_ms ≤ p90_ms"),
        ("p99_9_ms", 20.0, "p99_9_ms ≤ max_ms"),
    ],
)
def test_a_wrong_interval_is_found(definition, measured, column, value, check):
    measured.intervals.loc[1, column] = value
    quality = check_attempt(definition, CELL, measured)
    assert check in failed(quality)
    assert any(reason.startswith(check) for reason in quality.reasons)


def test_a_missing_interval_is_found(definition, measured):
    quality = check_attempt(definition, CELL, replace(measured, intervals=measured.intervals.iloc[:2]))
    assert failed(quality) == {"intervals": "2"}
    assert quality.reasons == ("intervals: expected 3 judged intervals, observed 2",)


def test_great_expectations_leaves_nothing_behind(definition, measured, tmp_path, monkeypatch):
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    check_attempt(definition, CELL, measured)
    assert list(tmp_path.iterdir()) == []


def with_summary(measured, **changes):
    return replace(measured, summary=measured.summary.model_copy(update=changes))


def test_a_database_that_cannot_keep_up_is_a_result(definition, measured):
    quality = check_attempt(definition, CELL, with_summary(measured, achieved_ops_s=150.0, in_flight_max=100))
    assert set(failed(quality)) == {"rate"}
    assert quality.reasons == ()
    assert len(quality.warnings) == 1


def test_a_load_generator_that_cannot_keep_up_is_not(definition, measured):
    quality = check_attempt(definition, CELL, with_summary(measured, achieved_ops_s=150.0, in_flight_max=12))
    assert set(failed(quality)) == {"rate", "load generator"}
    assert len(quality.reasons) == 1


def test_failed_operations_beyond_the_limit_are_told(definition, measured):
    quality = check_attempt(definition, CELL, with_summary(measured, errors={"write timeout": 7}))
    assert set(failed(quality)) == {"errors"}
    assert failed(check_attempt(definition, CELL, with_summary(measured, errors={"write timeout": 5}))) == {}


def test_another_mix_than_asked_is_found(definition, measured):
    quality = check_attempt(definition, CELL, with_summary(measured, operations={"reads": 3000, "writes": 3000}))
    assert set(failed(quality)) == {"mix"}


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"collector": "Shenandoah"}, "collector"),
        ({"collector": None}, "collector"),
        ({"flags": {"MaxHeapSize": str(1 << 30)}}, "heap_bytes"),
        ({"version": "11.0.14+1"}, "jdk"),
    ],
)
def test_an_environment_other_than_defined_is_found(definition, measured, changes, check):
    nodes = (node("node1"), node("node2", **changes), node("node3"))
    spoilt = replace(measured, fingerprint=measured.fingerprint.model_copy(update={"nodes": nodes}))
    assert set(failed(check_attempt(definition, CELL, spoilt))) == {check}


def test_a_missing_node_is_found(definition, measured):
    nodes = measured.fingerprint.nodes[:2]
    spoilt = replace(measured, fingerprint=measured.fingerprint.model_copy(update={"nodes": nodes}))
    assert failed(check_attempt(definition, CELL, spoilt)) == {"nodes": "2"}


def test_an_overcommitted_host_is_found(definition, measured):
    samples = pd.DataFrame({"memory_available_bytes": [8 * GIB, GIB // 8], "cpu_steal": [0.3, 0.1]})
    quality = check_attempt(definition, CELL, replace(measured, samples=samples))
    assert set(failed(quality)) == {"memory", "steal"}
    assert [reason.partition(":")[0] for reason in quality.reasons] == ["memory"]
