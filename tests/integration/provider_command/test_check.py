"""`plimsoll provider check` says what a cloud's programs do wrong, and leaves nothing."""

import getpass
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.provider_command.test_programs import servers
from tests.support.command_cloud.site import PROGRAMS, CommandSite, command_site
from typer.testing import CliRunner

from plimsoll.cli import cli


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandSite]:
    with command_site(tmp_path) as made:
        installed(tmp_path, monkeypatch)
        yield made


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command line have the store and the key in that folder, and these programs."""
    monkeypatch.setenv("PLIMSOLL_STORE", str(folder / "store"))
    monkeypatch.setenv("PLIMSOLL_PROVIDER_PROGRAMS", str(PROGRAMS))
    monkeypatch.setenv("PLIMSOLL_SSH_KEY", str(folder / "user"))
    monkeypatch.setenv("PLIMSOLL_SSH_USER", getpass.getuser())
    (folder / "store").mkdir(exist_ok=True)


def checked(site: CommandSite, tmp_path: Path, options: Any) -> tuple[int, str]:
    definition = {
        "name": "my-cloud",
        "title": "My cloud",
        "system": {"version": "4.0.1", "nodes": 1},
        "variants": [{"id": "v", "jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "512M"}}],
        "loads": ["200/s"],
        "workload": {"partitions": 1000, "populate": 100, "replication_factor": 1},
        "timing": {"duration": "10s", "warmup": "2s"},
        "service_levels": [{"interval": "1s"}],
        "provider": {"name": "command", "options": options},
    }
    (tmp_path / "my-cloud.yaml").write_text(json.dumps(definition))
    result = CliRunner().invoke(cli, ["provider", "check", str(tmp_path / "my-cloud.yaml")])
    assert servers(site) == []
    return result.exit_code, result.output


def test_a_good_cloud_lacks_a_price_at_most(site: CommandSite, tmp_path: Path) -> None:
    code, said = checked(site, tmp_path, site.options)
    assert code == 0, said
    assert "a host was launched, listed, and let us in" in said
    assert "a program runs on it: Python 3" in said
    assert "it was ended, and nothing of it is listed" in said


def test_a_cloud_that_forgets_tags_is_told_so(site: CommandSite, tmp_path: Path) -> None:
    code, said = checked(site, tmp_path, site.with_faults(launch="forgets"))
    assert code == 1
    assert "hosts load were asked for, and none printed" in " ".join(said.split())
    assert "To mend it" in said


def test_a_program_that_is_not_there_is_named(site: CommandSite, tmp_path: Path) -> None:
    code, said = checked(site, tmp_path, {**site.options, "end": ["no-such-program"]})
    assert code == 1
    assert "provider.options.end: there is no program 'no-such-program'" in " ".join(said.split())


def test_hosts_that_name_nobody_to_log_in_are_refused_at_once(
    site: CommandSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PLIMSOLL_SSH_USER")
    code, said = checked(site, tmp_path, site.options)
    assert code == 1
    assert "nobody is named who logs in to load" in " ".join(said.split())
