"""How Plimsoll's own Java programs are started, on this machine and where their files are brought."""

from pathlib import Path, PurePosixPath

import pytest
from tests.fakes.artefacts import EmptyArtefacts
from tests.fakes.hosts import FolderHost

from plimsoll.adapters.artefacts.java_programs import OwnProgram
from plimsoll.domain.hosts.cluster import HostInfo
from plimsoll.ports.artefacts import LOAD_JDK


class Elsewhere(FolderHost):
    """A host to which files are brought."""

    def install(self, bundle: Path) -> PurePosixPath:
        """Install it below a folder of its own."""
        return PurePosixPath("/brought") / bundle.name


INFO = HostInfo(name="load", role="load", address="127.9.9.250")


@pytest.fixture
def artefacts(tmp_path: Path) -> EmptyArtefacts:
    return EmptyArtefacts(tmp_path / "artefacts")


@pytest.fixture
def program(artefacts: EmptyArtefacts) -> OwnProgram:
    return OwnProgram("plimsoll.nodes.Main", artefacts.program("node-tool"), LOAD_JDK)


def test_on_this_machine_it_runs_where_its_jars_are(
    artefacts: EmptyArtefacts, program: OwnProgram, tmp_path: Path
) -> None:
    argv = program.argv(artefacts, FolderHost(tmp_path, INFO), "probe", jvm=("-Xmx128M",))
    jars = ":".join(str(jar) for jar in sorted(program.bundle.iterdir()))
    assert argv[1:] == ("-Xmx128M", "-cp", jars, "plimsoll.nodes.Main", "probe")


def test_where_its_files_are_brought_it_runs_with_their_paths_there(
    artefacts: EmptyArtefacts, program: OwnProgram, tmp_path: Path
) -> None:
    argv = program.argv(artefacts, Elsewhere(tmp_path, INFO), "probe")
    assert argv[0].startswith(f"/brought/{LOAD_JDK}/")
    assert argv[1:] == ("-cp", "/brought/nodes/plimsoll-nodes.jar", "plimsoll.nodes.Main", "probe")
