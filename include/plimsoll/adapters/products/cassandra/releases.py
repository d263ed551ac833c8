"""The release lines that can be deployed."""

import re

from plimsoll.adapters.products.cassandra.cassandra_3_11 import CASSANDRA_3_11
from plimsoll.adapters.products.cassandra.cassandra_4_0 import CASSANDRA_4_0
from plimsoll.adapters.products.cassandra.cassandra_4_0_alpha import CASSANDRA_4_0_ALPHA
from plimsoll.adapters.products.cassandra.cassandra_4_1 import CASSANDRA_4_1
from plimsoll.adapters.products.cassandra.cassandra_5_0 import CASSANDRA_5_0
from plimsoll.adapters.products.cassandra.release import Release

RELEASES = (CASSANDRA_3_11, CASSANDRA_4_0, CASSANDRA_4_1, CASSANDRA_5_0)


def release_of(version: str) -> Release | None:
    """Return the release line of a version such as `4.0.1` or `4.0-alpha4`; None where that line is not known here."""
    if version.startswith("4.0-alpha"):
        return CASSANDRA_4_0_ALPHA
    return next((one for one in RELEASES if re.match(rf"{re.escape(one.line)}[.-]", version)), None)
