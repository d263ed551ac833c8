"""Advice for the errors in a node's log, where its words are known. Pure."""

import re
from collections.abc import Sequence

from plimsoll.adapters.products.nodes.node_process import LogWords

_REMEDIES: Sequence[tuple[str, str]] = (
    (
        r"in use by another process|Address already in use|Failed to bind|Port already in use",
        "end what listens there: `ss -ltnp` names it",
    ),
    (r"Cannot assign requested address", "name an address that the host itself has"),
    (r"No space left on device|Disk quota exceeded", "free disk space on the host"),
    (r"Not a directory", "remove the file that lies on the host where a folder should be"),
    (
        r"Permission denied|AccessDenied|Operation not permitted|[Ii]nsufficient permissions|Read-only file system"
        r"|not writable|Unable to create directory|necessary permissions",
        "give the user who runs the node the right to write there, on the host",
    ),
    (r"Too many open files", "raise the host's limit of open files (`ulimit -n`)"),
    (r"unable to create (new )?native thread", "raise the host's limit of processes (`ulimit -u`)"),
    (
        r"insufficient (physical )?memory|Cannot allocate memory|OutOfMemoryError|Failed to (reserve|commit)"
        r"|Could not reserve enough|exceeds the (maximum|physical)",
        "give the nodes a smaller heap, or the host more memory",
    ),
    (
        r"VM option|Unrecognized option|Conflicting collector|Multiple garbage collectors|Invalid .*heap"
        r"|must be enabled via|outside the allowed range|Could not create the Java",
        "correct the `flags`, `collector` or `heap` of the variant's `jvm`",
    ),
    (r"UnsupportedClassVersionError|requires Java", "choose a `jdk` that this release runs on"),
)
"""Patterns of the system's and a JVM's errors, and advice. They come before a product's own, which may be wider."""


def remedy(complaint: str, words: LogWords) -> str:
    """Return the advice for a node's error messages; empty where none is known."""
    return next((mend for pattern, mend in (*_REMEDIES, *words.remedies) if re.search(pattern, complaint)), "")
