"""The campaign's suites on real Great Expectations."""

import pytest

from plimsoll.domain.cell import AttemptKey, grid
from plimsoll.domain.result import LevelVerdict, Verdict
from plimsoll.quality.campaign import cells_to_run_again, check_campaign


def verdict(definition, cell, *, attempt=1, valid=True, worst_ms=10.0) -> Verdict:
    level = definition.service_levels[0]
    return Verdict(
        key=AttemptKey(campaign_id="demo-1", cell_id=cell.id, attempt=attempt),
        cell=cell,
        valid=valid,
        met=valid,
        levels=[LevelVerdict(service_level=level, met=True, judged=3, missed=0, not_judged=0, worst_ms=worst_ms)],
        attempted_ops_s=cell.load_ops_s,
        achieved_ops_s=cell.load_ops_s,
        rate_achieved=True,
        code_version="1",
    )


@pytest.fixture
def verdicts(definition):
    return [verdict(definition, cell) for cell in grid(definition)]


def failed(quality) -> list[str]:
    return [check.name for check in quality.checks if not check.success]


def test_a_complete_campaign_passes(definition, verdicts, fingerprint):
    quality = check_campaign(definition, verdicts, {one.key: fingerprint for one in verdicts})
    assert failed(quality) == []
    assert set(quality.data_docs) == {"cells.html", "variants.html", "repeats.html"}


def test_missing_and_invalid_cells_close_the_gate_by_name(definition, verdicts):
    missing, invalid, *rest = verdicts
    rest.append(invalid.model_copy(update={"valid": False}))
    quality = check_campaign(definition, rest, {})
    assert failed(quality) == ["valid cells", "repeats"]
    assert missing.cell.id in quality.reasons[0]
    assert cells_to_run_again(definition, rest) == tuple(
        cell.id for cell in grid(definition) if cell in (missing.cell, invalid.cell)
    )


def test_an_invalid_attempt_beside_a_valid_one_does_not_matter(definition, verdicts):
    again = [verdict(definition, one.cell, attempt=2, valid=False) for one in verdicts]
    assert failed(check_campaign(definition, [*verdicts, *again], {})) == []


def test_two_environments_of_one_variant_close_the_gate(definition, verdicts, fingerprint):
    fingerprints = {one.key: fingerprint for one in verdicts}
    node = fingerprint.nodes[0]
    other = node.model_copy(update={"facts": node.facts.model_copy(update={"kernel": "7"})})
    fingerprints[verdicts[0].key] = fingerprint.model_copy(update={"nodes": (other, *fingerprint.nodes[1:])})
    assert failed(check_campaign(definition, verdicts, fingerprints)) == ["one environment per variant"]


def test_repeats_far_apart_are_warned_of(definition):
    twice = definition.model_copy(update={"repeats": 2})
    verdicts = [verdict(twice, cell, worst_ms=10.0 if cell.repeat == 1 else 50.0) for cell in grid(twice)]
    quality = check_campaign(twice, verdicts, {})
    assert failed(quality) == ["spread"]
    assert quality.reasons == ()
