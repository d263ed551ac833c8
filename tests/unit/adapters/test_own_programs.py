"""How Plimsoll's own Java programs are started: where their files are in place, from an archive of their classes."""

from pathlib import Path, PurePosixPath

import pytest
from tests.fakes.artefacts import EmptyArtefacts
from tests.fakes.hosts import FolderHost

from plimsoll.adapters.artefacts.class_data import ARCHIVE, of_program
from plimsoll.adapters.artefacts.own_programs import OwnProgram
from plimsoll.domain.cluster import HostInfo


class Elsewhere(FolderHost):
    """A host to which files are brought."""

    def install(self, bundle: Path) -> PurePosixPath:
        """Below a folder of its own."""
        return PurePosixPath("/brought") / bundle.name


INFO = HostInfo(name="load", role="load", address="127.9.9.250")


@pytest.fixture
def artefacts(tmp_path: Path) -> EmptyArtefacts:
    return EmptyArtefacts(tmp_path / "artefacts")


@pytest.fixture
def program(artefacts: EmptyArtefacts) -> OwnProgram:
    return OwnProgram("node-tool", "plimsoll.nodes.Main", artefacts.node_tool())


def test_on_this_machine_it_starts_from_the_archive(
    artefacts: EmptyArtefacts, program: OwnProgram, tmp_path: Path
) -> None:
    argv = program.argv(artefacts, FolderHost(tmp_path, INFO), "probe", jvm=("-Xmx128M",))
    archive = of_program(artefacts, "node-tool", program.bundle) / ARCHIVE
    jars = ":".join(str(jar) for jar in sorted(program.bundle.iterdir()))
    assert argv[1:] == ("-Xmx128M", f"-XX:SharedArchiveFile={archive}", "-cp", jars, "plimsoll.nodes.Main", "probe")


def test_where_its_files_are_brought_it_starts_without(
    artefacts: EmptyArtefacts, program: OwnProgram, tmp_path: Path
) -> None:
    argv = program.argv(artefacts, Elsewhere(tmp_path, INFO), "probe")
    assert argv[0].startswith("/brought/openjdk-11.0.13/")
    assert argv[1:] == ("-cp", "/brought/nodes/plimsoll-nodes.jar", "plimsoll.nodes.Main", "probe")


def test_other_jars_are_another_archive(artefacts: EmptyArtefacts, program: OwnProgram) -> None:
    before = of_program(artefacts, "node-tool", program.bundle)
    (program.bundle / "plimsoll-nodes.jar").write_text("another")
    assert of_program(artefacts, "node-tool", program.bundle) != before
