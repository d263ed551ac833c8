"""Whether a JVM accepts the flags of a variant, tested with the same program that the nodes will run."""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

from plimsoll.adapters.artefacts.cache import Cache
from plimsoll.adapters.artefacts.jdks import Jdk, facts_entry
from plimsoll.adapters.artefacts.processes import run_java

_ELSEWHERE = re.compile(
    r"/|^@|^-(javaagent|agentlib|agentpath|Xrun|Xloggc)|file=|^-XX:(Flags|VMOptionsFile|On\w+|\w+(File|List|Path|AtExit))="
)
"""Flags that name files of the nodes' hosts, or that would have the JVM do something here: never asked."""
_OF_THE_HOST = re.compile(
    r"(reserve|commit|insufficient|physical|Cannot allocate).*(memory|space|heap)|heap size exceeds", re.IGNORECASE
)
"""A refusal for want of memory holds for this machine, not for a node's host."""
# Last, so that they win: no memory is touched here, and no count of threads is too large for this machine's processors.
_ANYWHERE = ("-XX:-AlwaysPreTouch", "-XX:ActiveProcessorCount=64", "-Xms8m", "-Xmx512m")
_CHATTER = re.compile(r"^(Error occurred during init|\[|OpenJDK.*warning)")
_ENDING = re.compile(r"\s*Error: (Could not create the Java|A fatal exception).*")
_PATIENCE_S = 60


def refusal(cache: Cache, jdk: Jdk, flags: Sequence[str]) -> str:
    """The JVM's own error about the flags; empty where it starts with them. Each set of flags is tested only once."""
    asked = [*(flag for flag in flags if not is_unasked(flag)), *_anywhere(flags)]
    digest = hashlib.sha256("\n".join(asked).encode()).hexdigest()[:12]
    entry = f"{facts_entry(jdk.id, jdk.java, 'flags')}-{digest}"
    folder = cache.sealed(entry, lambda content: _write(content / "refusal.json", _ask(jdk.java, asked)))
    return str(json.loads((folder / "refusal.json").read_bytes()))


def is_unasked(flag: str) -> bool:
    """Whether a flag can only be tested on the nodes' hosts."""
    return bool(_ELSEWHERE.search(flag))


def _anywhere(flags: Sequence[str]) -> Sequence[str]:
    # A young generation of the node's size would not fit into the heap that is had here.
    return (*_ANYWHERE, "-Xmn64m") if any(flag.startswith("-Xmn") for flag in flags) else _ANYWHERE


def _write(path: Path, said: str) -> None:
    path.write_text(json.dumps(said), encoding="utf-8")


def _ask(java: Path, flags: Sequence[str]) -> str:
    ended = run_java(java, *flags, "-version", timeout_s=_PATIENCE_S)
    if ended.exit_code == 0 or _OF_THE_HOST.search(ended.output):
        return ""
    lines = [_ENDING.sub("", line) for line in ended.output.splitlines() if not _CHATTER.match(line)]
    said = [line.removeprefix("Error: ") for line in lines if line.strip()]
    return " ".join(said[:2]) or f"it ends with exit code {ended.exit_code}"
