"""Tables are dropped without copies where the release can, and where it can't the plan says what stays."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.external.test_cells import run
from tests.support.nodes.guarded import RELEASE, Guarded, guarded_cluster
from tests.support.suite.requirements import long

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.services.campaign.open.planning import make_plan
from plimsoll.services.campaign.open.remarks import remarks


@pytest.fixture(scope="module", params=[RELEASE, "5.0.9"])
def kept(request: Any, artefacts: Artefacts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cluster of a release, and the folders of its hosts."""
    data: list[Path] = []
    with guarded_cluster(artefacts, tmp_path_factory.mktemp("theirs"), 1, request.param, data) as guarded:
        yield request.param, guarded, data


@pytest.fixture(scope="module")
def theirs(kept: Any) -> Guarded:
    guarded: Guarded = kept[1]
    return guarded


@long("what the plan says of copies is a unit test")
def test_what_a_cell_wrote_stays_only_where_the_plan_says_so(site: Any, definition: Any, kept: Any) -> None:
    version, _, data = kept
    tools, own = site().tools, definition(system={"database": "external", "nodes": 1})
    said = [one for one in remarks(tools, make_plan(resolve(own))) if one.startswith("bench: ")]
    assert "500 rows before its load, and at most 400 in it; 900 rows in all" in said[0]
    _, verdict = run(tools, own, [])
    assert verdict.outcome == "met", verdict.reasons
    rows = [path for folder in data for path in folder.glob("**/bench/keyvalue-*/snapshots/dropped-*/*-Data.db")]
    assert bool(rows) == (version == RELEASE)
    assert any("nodetool clearsnapshot" in one for one in said) == (version == RELEASE)
