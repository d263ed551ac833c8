"""One real HBase in one process: master, region server and ZooKeeper, on a folder instead of HDFS."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from tests.integration.stress.node import Node
from tests.integration.stress.program import Program, class_path
from tests.support.processes import until

from plimsoll.adapters.artefacts import Artefacts

RELEASE, PORT = "2.6.4-hadoop3", 16020
_MAIN = "org.apache.hadoop.hbase.master.HMaster"
_LOG = """log4j.rootLogger=INFO,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %-5p %c{1}: %m%n
"""


@contextmanager
def running_hbase(artefacts: Artefacts, folder: Path, address: str) -> Iterator[Node]:
    """Provide it at that loopback address with its usual ports, ended at the end."""
    _configure(folder, address)
    jars = artefacts.database("hbase", RELEASE)
    java, jvm = artefacts.jdk("openjdk-11.0.13").java, ("-Xmx384m", "-XX:+UseSerialGC")
    server = Program(java, f"{folder / 'conf'}:{class_path(jars)}", _MAIN, jvm)
    with (folder / "log").open("wb") as log:
        process = server.start("start", log=log)
    try:
        _await_start(process, folder / "log")
        yield Node(address, psutil.Process(process.pid))
    finally:
        process.kill()
        process.wait(timeout=30)


def _await_start(process: "subprocess.Popen[bytes]", log: Path) -> None:
    def is_there() -> bool:
        return process.poll() is not None or "Master has completed initialization" in log.read_text(errors="replace")

    until(is_there, lambda: log.read_text(errors="replace")[-2000:])
    assert process.poll() is None, log.read_text(errors="replace")[-2000:]


def _configure(folder: Path, address: str) -> None:
    conf = folder / "conf"
    conf.mkdir(parents=True)
    (conf / "log4j.properties").write_text(_LOG)
    settings = {
        "hbase.cluster.distributed": "false",
        "hbase.rootdir": f"file://{folder / 'root'}",
        "hbase.wal.provider": "filesystem",
        "hbase.tmp.dir": str(folder / "tmp"),
        "hbase.unsafe.stream.capability.enforce": "false",
        "hbase.zookeeper.property.clientPort": str(_free_port()),
        "hbase.zookeeper.property.dataDir": str(folder / "zookeeper"),
        "hbase.master.hostname": address,
        "hbase.master.ipc.address": address,
        "hbase.master.info.port": "-1",
        "hbase.unsafe.regionserver.hostname": address,
        "hbase.regionserver.ipc.address": address,
        "hbase.regionserver.port": str(PORT),
        "hbase.regionserver.info.port": "-1",
    }
    keys = "".join(f"<property><name>{key}</name><value>{value}</value></property>" for key, value in settings.items())
    (conf / "hbase-site.xml").write_text(f"<configuration>{keys}</configuration>")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
