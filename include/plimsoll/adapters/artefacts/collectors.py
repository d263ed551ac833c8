"""The garbage collectors that a JVM really has: each is requested, and the JVM's own flags show whether it is used."""

import json
import re
from pathlib import Path

from plimsoll.adapters.artefacts.cache import Cache
from plimsoll.adapters.artefacts.collector_flags import COLLECTOR_FLAGS
from plimsoll.adapters.artefacts.jdks import Jdk, facts_entry
from plimsoll.adapters.artefacts.processes import ask_java, run_java
from plimsoll.domain.variant import Collector

_SMALL = ("-Xmx64m", "-XX:+UnlockExperimentalVMOptions")


def collectors(cache: Cache, jdk: Jdk) -> frozenset[Collector]:
    """Return the collectors of that JDK on this machine. The JDK is asked only once."""
    entry = facts_entry(jdk.id, jdk.java, "collectors")
    folder = cache.sealed(entry, lambda content: _write(content / "collectors.json", _ask(jdk.java)))
    return frozenset(json.loads((folder / "collectors.json").read_bytes()))


def _write(path: Path, found: list[Collector]) -> None:
    path.write_text(json.dumps(found), encoding="utf-8")


def _ask(java: Path) -> list[Collector]:
    # Azul's JVM has C4 and no other: it takes the flags of the others for the sake of old command lines.
    if "Zing" in ask_java(java, "-version"):
        return ["C4"]
    return [collector for collector, flag in COLLECTOR_FLAGS.items() if _has(java, flag)]


def _has(java: Path, flag: str) -> bool:
    """Tell whether the JVM uses that collector.

    The exit code is not enough: a JVM without it may warn and use another.
    """
    ended = run_java(java, *_SMALL, f"-XX:+{flag}", "-XX:+PrintFlagsFinal", "-version")
    return ended.exit_code == 0 and re.search(rf"\b{flag}\s+:?=\s+true\b", ended.output) is not None
