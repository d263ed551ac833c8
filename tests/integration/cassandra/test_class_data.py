"""The archive of classes is one that a node's JVM really takes, with every collector that can."""

import subprocess

import pytest
from tests.support.nodes.small import define

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.artefacts.class_data import ARCHIVE
from plimsoll.adapters.products.cassandra.cassandra_4_0 import JDK_FLAGS, JVM_FLAGS
from plimsoll.adapters.products.cassandra.class_data import class_data
from plimsoll.adapters.products.cassandra.flags import CHOICE


@pytest.mark.parametrize("collector", ["G1", "CMS", "Shenandoah", "Parallel", "Serial"])
def test_the_archive_fits_the_jvm_of_a_node(artefacts: Artefacts, collector: str) -> None:
    jvm = define(collector=collector).variants[0].jvm
    assert jvm is not None
    archive = class_data(artefacts, jvm, "4.0.1") / ARCHIVE
    jars = sorted(artefacts.database("cassandra", "4.0.1").glob("*.jar"))
    agent = next(jar for jar in jars if jar.name.startswith("jamm-"))
    command = [
        str(artefacts.jdk(jvm.jdk).java),
        "-Xshare:on",  # an archive that does not fit is an error, not left aside
        f"-XX:SharedArchiveFile={archive}",
        f"-javaagent:{agent}",
        *JVM_FLAGS,
        *JDK_FLAGS[11],
        *CHOICE[collector],
        "-Xmx512M",
        "-Xlog:class+load",
        "-cp",
        ":".join(str(jar) for jar in jars),
        "org.apache.cassandra.tools.GetVersion",
    ]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stdout[-500:] + ended.stderr
    assert "org.apache.cassandra.utils.FBUtilities source: shared objects file" in ended.stdout
    assert "4.0.1" in ended.stdout.splitlines()
