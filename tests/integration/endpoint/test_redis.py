"""A Redis that Plimsoll did not start, with a password and TLS, is measured by the guide's script, and left empty."""

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.integration.command_database.guide import AS_ONE, REDIS_LOAD, guided
from tests.integration.endpoint.test_postgresql import texts
from tests.support.campaigns.running import run_cell
from tests.support.nodes.their_redis import HOST, PASSWORD, their_redis

from plimsoll.bootstrap import full_toolkit
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.settings import Settings


def test_it_is_measured_and_left_as_it_was(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    own: Any = {"store": str(tmp_path / "store"), "work": tmp_path / "work", "database_password": PASSWORD}
    with their_redis(tmp_path_factory.mktemp("theirs")) as theirs:
        authority = theirs.folder / "authority.pem"
        tools = full_toolkit(Settings.model_validate({**own, "database_authority": authority}))
        words = {"/opt/redis-load.py": str(REDIS_LOAD), "python3": sys.executable}
        words["db.example:6379"] = f"{HOST}:{theirs.port}"
        definition = guided("staging-redis", words, {"rows": "1k"}, "endpoint.md", service_levels=AS_ONE)
        said = list[str]()
        assert problems(tools, definition) == ()
        CampaignStore(tools.store, definition.name).open(definition)
        _, verdict = run_cell(tools, definition.name, said.append)
    assert (verdict.outcome, verdict.reasons) == ("met", ())
    # Those that are due within it and end after it, on busy processors, are not its own
    assert verdict.operations == pytest.approx(600, rel=0.2)
    assert PASSWORD not in "".join([*said, *texts(tmp_path)])
