"""Another user of a node's machine: he gets at a node neither over loopback nor by its files."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.nodes.small import Deployment, define, provided
from tests.support.strangers import as_stranger

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.products.cassandra.inquiry import over_jmx
from plimsoll.adapters.products.cassandra.node_files import NodeFiles
from plimsoll.ports.artefacts import OWN_JDK


@pytest.fixture(scope="module")
def open_folder() -> Iterator[Path]:
    """Provide a folder that every user may enter, so that only the rights of what lies in it protect a node."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(scope="module")
def deployed(artefacts: Artefacts, open_folder: Path) -> Iterator[Deployment]:
    with provided(artefacts, open_folder / "clusters", define(nodes=1, heap="384M")) as deployment:
        deployment.deploy()
        yield deployment


@pytest.fixture(scope="module")
def inspect(artefacts: Artefacts, open_folder: Path) -> Callable[..., Any]:
    """Has a stranger run a copy of the node tool: `inspect("--jmx-port", …)`."""
    shutil.copytree(artefacts.jdk(OWN_JDK).home, open_folder / "jdk")
    shutil.copytree(artefacts.program("node-tool"), open_folder / "node-tool")
    java = (
        str(open_folder / "jdk/bin/java"),
        "-XX:+PerfDisableSharedMem",
        "-cp",
        f"{open_folder}/node-tool/*",
        "plimsoll.nodes.Main",
        "inspect",
    )

    def ask(*arguments: str) -> Any:
        return json.loads(as_stranger(*java, *arguments).stdout)

    return ask


def test_jmx_asks_for_a_password(deployed: Deployment, inspect: Callable[..., Any], open_folder: Path) -> None:
    jmx = over_jmx(deployed.nodes)[:2]
    (jvm,) = inspect(*jmx)
    assert "Credentials required" in jvm["error"]
    (open_folder / "guess").write_text("plimsoll plimsoll\n")
    (jvm,) = inspect(*jmx, "--password-file", str(open_folder / "guess"))
    assert "Invalid username or password" in jvm["error"]
    (node,) = deployed.fingerprint()
    assert node.database_version == "4.0.1", "its own user gets in"


def test_the_password_is_read_by_the_node_s_own_user_alone(deployed: Deployment, inspect: Callable[..., Any]) -> None:
    (jvm,) = inspect(*over_jmx(deployed.nodes))
    assert "AccessDeniedException" in jvm["error"]
    (node,) = deployed.nodes
    password = Path(NodeFiles(node.root).jmx.password).read_text().split()[1]
    seen = as_stranger("sh", "-c", f"grep -rsaF {password} {deployed.provider.work} /proc/[0-9]*/cmdline; ps axewww")
    assert password not in seen.stdout.replace(f"grep -rsaF {password}", "")


def test_nothing_of_a_node_can_be_written(deployed: Deployment) -> None:
    (node,) = deployed.nodes
    found = as_stranger("find", str(node.root), "-writable", "!", "-type", "l")
    assert found.stdout == ""
