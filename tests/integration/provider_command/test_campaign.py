"""A campaign with a real Cassandra node and a real load, on hosts that a cloud's programs make."""

import json
from pathlib import Path

import pytest
from tests.integration.provider_command.test_check import site
from tests.integration.provider_command.test_programs import servers
from tests.support.command_cloud.site import CommandSite
from tests.support.nodes.small import QUICK
from tests.support.suite.requirements import long
from typer.testing import CliRunner

from plimsoll.cli import cli

__all__ = ["site"]


@long("one host is made, used and ended by the check")
@pytest.mark.usefixtures("site")
def test_a_cell_runs_costs_what_its_hosts_say_and_leaves_nothing(site: CommandSite, tmp_path: Path) -> None:
    definition = {
        "name": "by-programs",
        "title": "On hosts by programs",
        "system": {"version": "4.0.1", "nodes": 1},
        "variants": [{"id": "v", "jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "512M", **QUICK}}],
        "loads": ["200/s"],
        "workload": {"partitions": 1000, "populate": 100, "replication_factor": 1},
        "load_generator": {"threads": 2, "heap": "128M"},
        "timing": {"duration": "10s", "warmup": "2s"},
        "service_levels": [{"interval": "1s"}],
        "budget": "5 USD",
        "provider": {"name": "command", "options": {**site.options, "prices": {"node": 0.25, "load": 0.25}}},
    }
    (tmp_path / "by-programs.yaml").write_text(json.dumps(definition))
    result = CliRunner().invoke(cli, ["run", str(tmp_path / "by-programs.yaml"), "--new-campaign", "by-programs-1"])
    assert servers(site) == [], result.output
    folder = tmp_path / "store" / "by-programs-1"
    assert list(folder.glob("cells/*/1/verdict.json")), (result.output, result.exception)
    [cost] = [json.loads(file.read_text()) for file in folder.glob("costs/*/1/[0-9]*.json")]
    assert 0 < cost["usd"] < 0.5
    listed = CliRunner().invoke(cli, ["clusters", "list"])
    assert (listed.exit_code, listed.output) == (0, "no cluster is alive\n")
