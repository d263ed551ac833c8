"""Whether a cluster is ready for clients, by what its processes tell of themselves at `/jmx`. Pure.

That ports are open says nothing: they are long before. Nor does the Master's word alone that all servers have reported
and no region is in transition: this is true before its first regions, `hbase:meta` and `hbase:namespace`, are assigned.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.adapters.products.hbase.roles import MASTER, NAME_NODE, REGION_SERVER, Role
from plimsoll.domain.plurals import plural

_HADOOP = "Hadoop:service="
FILE_SYSTEM = f"{_HADOOP}NameNode,name=FSNamesystemState"
MASTER_STATE, ASSIGNMENT = f"{_HADOOP}HBase,name=Master,sub=Server", f"{_HADOOP}HBase,name=Master,sub=AssignmentManager"
SERVER_STATE = f"{_HADOOP}HBase,name=RegionServer,sub=Server"
_FIRST_REGIONS = 2

Bean = Mapping[str, Any]
"""The attributes of one bean; empty where the process does not answer, or has no such bean yet."""


def bean_of(answer: Any) -> Bean:
    """Return the one bean of an answer of `/jmx?qry=…`, whatever that answer is."""
    beans = answer.get("beans") if isinstance(answer, dict) else None
    return beans[0] if isinstance(beans, list) and beans and isinstance(beans[0], dict) else {}


@dataclass(frozen=True)
class ToldState:
    """What the processes of a cluster of so many `nodes` tell."""

    nodes: int
    file_system: Bean
    master: Bean
    assignment: Bean
    servers: Sequence[Bean]

    def obstacle(self) -> tuple[Role, str] | None:
        """Return why clients have to wait, and the process that keeps them waiting; None where it is ready."""
        steps = ((NAME_NODE, self._hdfs()), (MASTER, self._master()), (REGION_SERVER, self._regions()))
        return next(((role, why) for role, why in steps if why), None)

    def _hdfs(self) -> str:
        if not self.file_system:
            return "it does not answer at /jmx"
        live, state = self.file_system.get("NumLiveDataNodes", 0), self.file_system.get("FSState")
        if live < self.nodes:
            return f"{live} of {plural(self.nodes, 'DataNode')} have reported to it"
        return "" if state == "Operational" else f"HDFS is in state {state}"

    def _master(self) -> str:
        if not self.master:
            return "it does not answer at /jmx"
        if str(self.master.get("tag.isActiveMaster")).lower() != "true":
            return "it is not the active master yet"
        reported, moving = self.master.get("numRegionServers", 0), self.assignment.get("ritCount")
        if reported < self.nodes:
            return f"{reported} of {plural(self.nodes, 'region server')} have reported to it"
        return "" if moving == 0 else f"regions in transition: {'unknown' if moving is None else moving}"

    def _regions(self) -> str:
        regions = sum(server.get("regionCount", 0) for server in self.servers)
        return "" if regions >= _FIRST_REGIONS else f"{regions} of its first {_FIRST_REGIONS} regions are open"
