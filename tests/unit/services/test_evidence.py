"""What an attempt left, gathered for judging."""

from pathlib import Path

import pytest
from tests.fakes.installation import Installation
from tests.support.campaigns.running import run_missing

from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.definitions.text import parse_definition
from plimsoll.services.judge import evidence
from plimsoll.services.store.campaigns import CampaignStore, read_manifest

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


def test_an_account_beyond_all_measure_is_not_read_and_its_size_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation = Installation(tmp_path)
    installation.open_campaign(parse_definition(TEXT, "one.yaml"))
    run_missing(installation.toolkit, "campaign", "me", print)
    cells = CampaignStore(installation.toolkit.store, "campaign")
    work = AttemptContext(installation.toolkit, cells.key("g1-001k-r1", 1))
    manifest = read_manifest(installation.toolkit.store, work.key)
    assert manifest is not None
    assert evidence.gather(work, manifest).summary.complete
    monkeypatch.setattr(evidence, "MOST_BYTES", 10)
    found = evidence.gather(work, manifest).summary
    assert not found.complete
    assert "more than 10 are not read of such a file" in found.reason
