"""Releases of HBase, and of the Hadoop whose HDFS each stands on."""

from collections.abc import Mapping

from plimsoll.adapters.products.nodes.jvm_flags import exported, opened
from plimsoll.domain.text.errors import ArtefactError

PRODUCT = "hbase"
"""The name of HBase in definitions."""
_OF_2_6_4 = (
    *(f"org.apache.hbase:hbase-{part}:2.6.4-hadoop3" for part in ("server", "client", "common", "logging")),
    "org.apache.hadoop:hadoop-hdfs:3.4.2",
)
RELEASES: Mapping[str, tuple[str, ...]] = {"2.6.4-hadoop3": _OF_2_6_4}
"""Release → the Maven coordinates that it is resolved from: its server, which brings ZooKeeper, and the HDFS that it
was built with. The server's other parts are named since Hadoop's POM manages an older version of these."""


def maven_roots(version: str) -> tuple[str, ...]:
    """Return the Maven coordinates that a release is resolved from. Raises ArtefactError for one not known here."""
    if version not in RELEASES:
        mend = "add it to RELEASES in plimsoll/adapters/products/hbase/release.py"
        raise ArtefactError(f"what HBase {version} was built with is not known", where="lock", mend=mend)
    return RELEASES[version]


_OPENS = ("java.nio", "java.lang", "java.lang.reflect", "java.util", "java.util.concurrent", "jdk.internal.ref")
# Of bin/hbase for JDKs from 11 on, less what only logins by Kerberos need.
_FROM_11 = (
    "-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true",
    *opened("java.base/sun.nio.ch", *(f"java.base/{package}" for package in _OPENS)),
    *exported("java.base/jdk.internal.misc", "java.base/sun.net.dns", "java.base/sun.net.util"),
)
JDK_FLAGS: Mapping[int, tuple[str, ...]] = {11: _FROM_11, 17: _FROM_11}
"""Flags by the JDK's major version. HBase is run here on no JDK that is missing."""
