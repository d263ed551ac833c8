"""How Plimsoll's own Java programs are started, on this machine and where their files are brought."""

from pathlib import Path, PurePosixPath

import pytest
from tests.fakes.artefacts import EmptyArtefacts
from tests.fakes.hosts import FolderHost

from plimsoll.adapters.artefacts.java_programs import java_argv
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.ports.artefacts import OWN_JDK


class Elsewhere(FolderHost):
    """A host to which files are brought."""

    def install(self, bundle: Path) -> PurePosixPath:
        """Install it below a folder of its own."""
        return PurePosixPath("/brought") / bundle.name


MAIN = "plimsoll.nodes.Main"
INFO = HostInfo(name="load", role="load", address="127.9.9.250")


@pytest.fixture
def artefacts(tmp_path: Path) -> EmptyArtefacts:
    return EmptyArtefacts(tmp_path / "artefacts")


def test_on_this_machine_it_runs_where_its_jars_are(artefacts: EmptyArtefacts, tmp_path: Path) -> None:
    argv = java_argv(artefacts, "node-tool", MAIN, FolderHost(tmp_path, INFO), "probe", jvm=("-Xmx128M",))
    jars = ":".join(str(jar) for jar in sorted(artefacts.program("node-tool").iterdir()))
    assert argv[1:] == ("-Xmx128M", "-cp", jars, MAIN, "probe")


def test_where_its_files_are_brought_it_runs_with_their_paths_there(artefacts: EmptyArtefacts, tmp_path: Path) -> None:
    argv = java_argv(artefacts, "node-tool", MAIN, Elsewhere(tmp_path, INFO), "probe")
    assert argv[0].startswith(f"/brought/{OWN_JDK}/")
    assert argv[1:] == ("-cp", "/brought/nodes/plimsoll-nodes.jar", MAIN, "probe")
