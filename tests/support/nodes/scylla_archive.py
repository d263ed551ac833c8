"""An archive with the layout of ScyllaDB's unified package, whose programs are stand-ins."""

import hashlib
import io
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.support.nodes import scylla_stand_in

from plimsoll.adapters.artefacts import Archives

URL = "s3://mine/scylla-unified-4.4.3.tar.gz"
_LOADER = '#!/bin/sh\n[ "$1" = --library-path ] || exit 2\nshift 2\nexec python3 "$@"\n'
_IOTUNE = """
import sys
assert sys.argv[1::2] == ["--evaluation-directory", "--properties-file"], sys.argv
open(sys.argv[4], "w").write("disks:\\n- mountpoint: /\\n  read_iops: 1000\\n")
"""


def archive() -> bytes:
    """Return the packed archive."""
    files = {
        "scylla/libreloc/ld.so": _LOADER,
        "scylla/libexec/iotune": _IOTUNE,
        "scylla/libexec/scylla": Path(scylla_stand_in.__file__).read_text(encoding="utf-8"),
        "scylla/conf/scylla.yaml": "num_tokens: 256\ncommitlog_sync: periodic\nlisten_address: localhost\n",
        "install.sh": "exit 1\n",
    }
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"scylla-4.4.3/{name}")
            member.size, member.mode = len(content.encode()), 0o755
            tar.addfile(member, io.BytesIO(content.encode()))
    return stream.getvalue()


def named(packed: bytes) -> dict[str, str]:
    """Return the archive as a variant names it."""
    return {"url": URL, "sha256": hashlib.sha256(packed).hexdigest()}


def served(packed: bytes) -> Archives:
    """Return a source that has the archive in its bucket."""

    def get_object(**_: Any) -> dict[str, Any]:
        return {"Body": SimpleNamespace(iter_chunks=lambda _: iter([packed]), close=lambda: None)}

    return Archives(lambda: SimpleNamespace(get_object=get_object))
