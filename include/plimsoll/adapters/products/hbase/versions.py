"""The versions that processes name in their logs when they start. Pure."""

import re

_TOLD = re.compile(
    r"VersionInfo: HBase (?P<hbase>\S+)"
    r"|STARTUP_MSG: +version = (?P<hadoop>\S+)"
    r"|environment:zookeeper\.version=(?P<zookeeper>[\d.]+)"
)


def version_told(process: str, log: str) -> str:
    """Return the version that the process names first in its log; empty where it names none.

    HBase's processes also tell that of the ZooKeeper client in them.
    """
    wanted = {"zookeeper": "zookeeper", "namenode": "hadoop", "datanode": "hadoop"}.get(process, "hbase")
    return next((told for match in _TOLD.finditer(log) if (told := match[wanted])), "")
