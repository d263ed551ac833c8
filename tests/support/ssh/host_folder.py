"""A host that is this machine, and a folder to copy to it."""

import os
from pathlib import Path

from plimsoll.domain.hosts.cluster import HostInfo

INFO = HostInfo(name="node1", role="node", address="127.0.0.1", facts={"machine": "here"})
MIB = 1 << 20


def make_folder(folder: Path, *, big: int) -> Path:
    """Return a folder with an executable, and with a file of that many random bytes."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").write_text("#!/bin/sh\necho started\n")
    (folder / "bin" / "java").chmod(0o700)
    (folder / "big.jar").write_bytes(os.urandom(big))
    return folder
