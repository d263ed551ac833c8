"""A campaign on hosts that a cloud's programs make as network namespaces: kept from cell to cell, with a spare node."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cloud.namespaces import obstacle
from tests.integration.provider_command.test_check import installed
from tests.integration.provider_command.test_programs import servers
from tests.support.command_cloud.site import NAMESPACES, CommandSite, command_site
from tests.support.nodes.small import QUICK
from tests.support.suite.requirements import leave_out, long
from typer.testing import CliRunner

from plimsoll.cli import cli


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandSite]:
    if why := obstacle():
        leave_out(f"no hosts in namespaces: {why}")
    with command_site(tmp_path, NAMESPACES) as made:
        installed(tmp_path, monkeypatch)
        yield made


def bridges() -> list[str]:
    told = subprocess.run(["ip", "-json", "link", "show", "type", "bridge"], capture_output=True, text=True, check=True)
    return [one["ifname"] for one in json.loads(told.stdout or "[]") if one["ifname"].startswith("plc-")]


@long("hosts on loopback addresses run a cell; these need root, and are kept for three")
def test_kept_hosts_run_cells_and_a_node_joins_on_a_spare_one(site: CommandSite, tmp_path: Path) -> None:
    before = bridges()
    flags = [*QUICK["flags"], "-Dcassandra.ring_delay_ms=5000"]  # type: ignore[misc]
    definition = {
        "name": "in-namespaces",
        "title": "On hosts in namespaces",
        "system": {"version": "4.0.1", "nodes": 1},
        "variants": [{"id": "v", "jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "512M", "flags": flags}}],
        "loads": ["200/s"],
        "workload": {"partitions": 1000, "populate": 100, "replication_factor": 1},
        "load_generator": {"threads": 2, "heap": "128M"},
        "timing": {"duration": "10s", "warmup": "2s"},
        "service_levels": [{"interval": "1s", "below": "5s"}],
        "stages": [
            {"id": "plain", "title": "One node", "repeats": 2},
            {
                "id": "growing",
                "title": "While a node joins",
                "action": {"name": "add-node", "at": "4s"},
                "timing": {"duration": "90s", "warmup": "2s"},
            },
        ],
        "cluster_scope": "campaign",
        "provider": {"name": "command", "options": site.options},
    }
    (tmp_path / "in-namespaces.yaml").write_text(json.dumps(definition))
    argv = ["run", str(tmp_path / "in-namespaces.yaml"), "--new-campaign", "in-namespaces-1"]
    result = CliRunner().invoke(cli, argv)
    assert servers(site) == [], result.output
    assert bridges() == before
    folder = tmp_path / "store" / "in-namespaces-1"
    verdicts = [json.loads(file.read_text()) for file in sorted(folder.glob("cells/*/1/verdict.json"))]
    assert [one["valid"] for one in verdicts] == [True] * 3, result.output
    used = {json.loads(file.read_text())["cluster"] for file in folder.glob("cells/*/1/fingerprint.json")}
    assert used == {"hosts/1"}
    [joined] = [action for one in verdicts if (action := one.get("action"))]
    assert joined["duration_s"] > 0
