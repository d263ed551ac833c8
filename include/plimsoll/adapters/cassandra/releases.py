"""The release lines that can be deployed."""

import re
from dataclasses import replace

from plimsoll.adapters.cassandra.cassandra_3_11 import CASSANDRA_3_11
from plimsoll.adapters.cassandra.cassandra_4_0 import CASSANDRA_4_0
from plimsoll.adapters.cassandra.cassandra_4_1 import CASSANDRA_4_1
from plimsoll.adapters.cassandra.cassandra_5_0 import CASSANDRA_5_0
from plimsoll.adapters.cassandra.release import Release

# Versions of 4.0 before the betas. Their log line that says that clients can connect has another text.
CASSANDRA_4_0_ALPHA = replace(CASSANDRA_4_0, ready=CASSANDRA_3_11.ready)
RELEASES = (CASSANDRA_3_11, CASSANDRA_4_0, CASSANDRA_4_1, CASSANDRA_5_0)


def release_of(version: str) -> Release | None:
    """The release line of a version such as `4.0.1` or `4.0-alpha4`; None where that line is not known here."""
    if version.startswith("4.0-alpha"):
        return CASSANDRA_4_0_ALPHA
    return next((one for one in RELEASES if re.match(rf"{re.escape(one.line)}[.-]", version)), None)
