"""A real load generator and real nodes."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.integration.stress.node import Node, running_node
from tests.integration.stress.program import (
    Files,
    Program,
    answering,
    compile_java,
    own_program,
    running_load,
)

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.settings import Settings


@pytest.fixture(scope="session")
def artefacts() -> Any:
    """From the cache that the demo uses too: big downloads happen once on a machine."""
    return Artefacts(Settings().cache, print)


@pytest.fixture(scope="session")
def program(artefacts: Artefacts) -> Any:
    return own_program(artefacts, "load-generator", "plimsoll.stress.Main")


@pytest.fixture(scope="session")
def node_tool(artefacts: Artefacts) -> Any:
    """What asks nodes how they are."""
    return own_program(artefacts, "node-tool", "plimsoll.nodes.Main")


@pytest.fixture(scope="package")
def living_node(artefacts: Artefacts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Node]]:
    """Provide the node that all modules share, or another one where a test has killed it."""
    with ExitStack() as running:
        nodes: list[Node] = []

        def living() -> Node:
            if not (nodes and nodes[-1].is_alive):
                running.close()
                nodes.append(running.enter_context(running_node(artefacts, tmp_path_factory.mktemp("cluster"))))
            return nodes[-1]

        yield living


@pytest.fixture(scope="module")
def node(living_node: Callable[[], Node]) -> Any:
    """Provide a node for all tests of a module, which leave it as it was, or kill it as their last."""
    return living_node()


@pytest.fixture
def load(program: Program, tmp_path: Path) -> Any:
    """Runs a load to its end: `load(node, "-d", "3s", …)` gives the ended process, its files and what it said."""

    def run(node: Node, *options: Any) -> Any:
        files = Files(tmp_path)
        ended = program.run("run", "BasicTimeSeries", "--host", node.address, "--rf", "1", *files.options, *options)
        return ended, files

    return run


@pytest.fixture
def start_load(program: Program, tmp_path: Path) -> Iterator[Any]:
    """Starts a load as `running_load` does; it ends with the test in any case."""
    with ExitStack() as running:
        yield lambda node, *options: running.enter_context(running_load(program, tmp_path, node.address, *options))


@pytest.fixture(scope="package")
def ask(artefacts: Artefacts, program: Program, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Answers of the generator's pure parts: `ask("count 20k", …)` gives a line for each question."""
    classes, sources = tmp_path_factory.mktemp("classes"), Path(__file__).parent / "java"
    compile_java(artefacts, artefacts.program("load-generator"), sources, str(classes))
    with answering(program, classes, "plimsoll.stress.core.Ask") as answers:
        yield answers
