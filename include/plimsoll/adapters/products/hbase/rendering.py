"""The files of a process's configuration, as texts. Pure."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from xml.sax.saxutils import escape

from pydantic import JsonValue

from plimsoll.adapters.products.hbase.node_files import RoleFiles
from plimsoll.adapters.products.hbase.roles import MASTER, REGION_SERVER, ZOOKEEPER, Role
from plimsoll.adapters.products.hbase.settings import (
    ClusterHost,
    hadoop_settings,
    hbase_settings,
    hdfs_settings,
    zookeeper_settings,
)

ZOO_CFG = "zoo.cfg"
_HOMES_OF_PAGES = (
    *("webapps/hdfs", "webapps/datanode"),
    *("hbase-webapps/master", "hbase-webapps/regionserver", "hbase-webapps/static"),
)
"""Folders that web servers look for on the class path. Their pages are in no jar; `/jmx` needs none."""

# The level comes first, by which a log's last lines are told apart. One file without rotation, because a cell's log is
# collected as a whole.
_LOG4J = """log4j.rootLogger=INFO,file
log4j.appender.file=org.apache.log4j.FileAppender
log4j.appender.file.File={log}
log4j.appender.file.layout=org.apache.log4j.PatternLayout
log4j.appender.file.layout.ConversionPattern=%-5p [%t] %d{{ISO8601}} %c{{2}}: %m%n
"""
# `/jmx` shows figures as they were up to a period ago: 10 s, unless a file names another.
_METRICS = "*.period=1\n"


def configuration(role: Role, log: PurePosixPath, given: Mapping[str, JsonValue], place: ClusterHost) -> dict[str, str]:
    """Return the files of a process's configuration folder by their names."""
    scratch = RoleFiles(place.root, role.name).scratch
    files = {"log4j.properties": _LOG4J.format(log=log)}
    if role is ZOOKEEPER:
        return {**files, ZOO_CFG: properties(zookeeper_settings(given, place))}
    files |= {f"{folder}/empty": "" for folder in _HOMES_OF_PAGES}
    files["core-site.xml"] = site(hadoop_settings(given, place, scratch))
    files["hdfs-site.xml"] = site(hdfs_settings(given, place))
    if role in (MASTER, REGION_SERVER):
        files["hbase-site.xml"] = site(hbase_settings(given, place, scratch))
        files["hadoop-metrics2-hbase.properties"] = _METRICS
    return files


def site(settings: Mapping[str, JsonValue]) -> str:
    """Return settings in the form of Hadoop's `…-site.xml`."""
    lines = (
        f"  <property><name>{escape(key)}</name><value>{escape(shown(value))}</value></property>"
        for key, value in sorted(settings.items())
    )
    return "\n".join(["<configuration>", *lines, "</configuration>", ""])


def properties(settings: Mapping[str, JsonValue]) -> str:
    """Return settings as lines `key=value`."""
    return "".join(f"{key}={shown(value)}\n" for key, value in sorted(settings.items()))


def shown(value: JsonValue) -> str:
    """Return a value as Java writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
