"""The load generator for HBase, and a real HBase."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.integration.stress.hbase.server import running_hbase
from tests.integration.stress.node import Node
from tests.integration.stress.program import (
    Files,
    Load,
    Program,
    answering,
    compile_java,
    own_program,
    running_load,
)

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.generators.plimsoll_stress.command import CLIENT_PROGRAMS
from plimsoll.domain.keys.workload import HBASE

ADDRESS = "127.203.41.7"


@pytest.fixture(scope="package")
def hbase_program(artefacts: Artefacts) -> Program:
    clients = CLIENT_PROGRAMS[HBASE]
    return own_program(artefacts, clients.program, clients.main, clients.jvm)


@pytest.fixture(scope="package")
def ask_hbase(
    artefacts: Artefacts, hbase_program: Program, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Any]]:
    """Provide answers about the client of HBase, a line for each question."""
    classes, sources = tmp_path_factory.mktemp("classes"), Path(__file__).parents[1] / "java-hbase"
    compile_java(artefacts, artefacts.program("load-generator-for-hbase"), sources, str(classes))
    with answering(hbase_program, classes, "plimsoll.stress.hbase.AskHBase") as answers:
        yield answers


@pytest.fixture(scope="module")
def hbase(artefacts: Artefacts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """Provide an HBase for all tests of a module, which leave it as it was, or kill it as their last."""
    with ExitStack() as running:
        yield running.enter_context(running_hbase(artefacts, tmp_path_factory.mktemp("hbase"), ADDRESS))


@pytest.fixture
def run(hbase_program: Program, hbase: Node, tmp_path: Path) -> Any:
    """Runs a workload with options to its end: the ended process and its files."""

    def run(name: str, *options: str) -> Any:
        files = Files(tmp_path)
        ended = hbase_program.run("run", name, "--host", hbase.address, *files.options, *options)
        return ended, files

    return run


@pytest.fixture
def start(hbase_program: Program, hbase: Node, tmp_path: Path) -> Iterator[Any]:
    """Starts a load as `running_load` does; it ends with the test in any case."""
    with ExitStack() as running:

        def started(name: str, *options: str) -> Load:
            load = running_load(hbase_program, tmp_path / "load", hbase.address, *options, workload=(name,))
            return running.enter_context(load)

        yield started
