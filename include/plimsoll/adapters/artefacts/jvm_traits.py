"""Whether a JVM accepts the flags of a variant, and which garbage collectors it has, asked of the very program that
the nodes will run.

The JVM runs on this machine. So it gets only flags that can neither write a file, open a port nor load code. It says
itself which flags it has and of what type: numbers are harmless, texts may name files, switches are on a list here. A
flag that it does not have is given to it, because its answer is that it does not know the flag.

Each collector is requested, and the JVM's own flags show whether it is used.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from plimsoll.adapters.artefacts.cache import Cache
from plimsoll.adapters.artefacts.jdks import Jdk, answer
from plimsoll.adapters.artefacts.web import ask_java, run_java
from plimsoll.domain.keys.variant import Collector

_PLAIN = re.compile(
    r"-(Xm[nsx]|Xss)\w+|-X(int|comp|mixed|batch|noclassgc)|-Xshare:(auto|off)|-Xlog:(gc|safepoint)[a-z0-9*+,=]*"
    r"|-[ed](sa|a(:[\w.]+)?)|-server|-verbose:gc"
)
"""Flags that do not begin with `-XX:`."""
_OPTION = re.compile(r"-XX:(?:(?P<switch>[+-])(?P<on>\w+)|(?P<name>\w+)(?:=(?P<value>.*))?)", re.DOTALL)
_SWITCHES = re.compile(
    r"Use\w+|Unlock\w+Options|IgnoreUnrecognizedVMOptions"
    r"|(G1|Z|Shenandoah|CMS|Par|Parallel|Scavenge|Compact|Class|Always|Resize|Adaptive|Tiered|Explicit)[A-Z]\w*"
    r"|(Disable|Eliminate|Optimize|Background|BytecodeVerification|Never|Aggressive)[A-Z]\w*"
    r"|DoEscapeAnalysis|Inline|OmitStackTraceInFastThrow"
    r"|PerfDisableSharedMem|PreserveFramePointer|DebugNonSafepoints|HeapDumpOnOutOfMemoryError|ExitOnOutOfMemoryError"
    r"|Print(GC|Heap|Tenuring|Promotion|Reference|Adaptive|Safepoint|StringDeduplication)\w*"
)
"""Switches of collectors, memory and compilers, and of what a JVM prints on its own output."""
_NUMBERS = frozenset({"int", "intx", "uint", "uintx", "size_t", "uint64_t", "double"})
_UNLISTED = frozenset({"Flags", "VMOptionsFile"})
"""Flags that JVMs take before they look at their list of flags: files with further flags."""
_WORDS = frozenset({"ShenandoahGCHeuristics", "ShenandoahGCMode"})
"""Flags of type text that name no file."""
_LISTED = re.compile(r"^\s*(\w+)\s+(\w+)\s+:?=", re.MULTILINE)
_EVERY_FLAG = ("-XX:+UnlockDiagnosticVMOptions", "-XX:+UnlockExperimentalVMOptions", "-XX:+PrintFlagsFinal")
_OF_THE_HOST = re.compile(
    r"(reserve|commit|insufficient|physical|Cannot allocate).*(memory|space|heap)|heap size exceeds", re.IGNORECASE
)
"""A refusal for want of memory holds for this machine, not for a node's host."""
# Last, so that they win: no memory is touched here, no count of threads is too large for this machine's processors, and
# no file is made for `jps` in the temporary folder.
_ANYWHERE = (
    *("-XX:-AlwaysPreTouch", "-XX:ActiveProcessorCount=64", "-XX:+PerfDisableSharedMem"),
    *("-Xms8m", "-Xmx512m"),
)
_CHATTER = re.compile(r"^(Error occurred during init|\[|OpenJDK.*warning)")
_ENDING = re.compile(r"\s*Error: (Could not create the Java|A fatal exception).*")
_PATIENCE_S = 60
# JDK 11 has ZGC only as an experimental option
_SMALL = ("-Xmx64m", "-XX:+UnlockExperimentalVMOptions")

COLLECTOR_FLAGS: Mapping[Collector, str] = {
    "G1": "UseG1GC",
    "CMS": "UseConcMarkSweepGC",
    "Shenandoah": "UseShenandoahGC",
    "ZGC": "UseZGC",
    "Parallel": "UseParallelGC",
    "Serial": "UseSerialGC",
}
"""The flag that chooses each collector. C4 has none, because its JVM has no other collector."""


def refusal(cache: Cache, jdk: Jdk, flags: Sequence[str]) -> str:
    """Return the JVM's own error about the flags; empty where it starts with them. Each set is tested only once."""
    left_out = unasked(cache, jdk, flags)
    # A young generation of the node's size would not fit into the heap that is had here.
    small = ("-Xmn64m",) if any(flag.startswith("-Xmn") for flag in flags) else ()
    judged = (flag for flag in flags if flag not in left_out and not flag.startswith("-D"))
    wanted = [*judged, *_ANYWHERE, *small]
    question = "\n".join(["refusal", *wanted])
    return str(answer(cache, jdk.id, jdk.java, question, lambda: _ask(jdk.java, wanted)))


def unasked(cache: Cache, jdk: Jdk, flags: Sequence[str]) -> list[str]:
    """Return the flags that nodes' hosts alone can test. Properties (`-D…`) are not among them: no JVM refuses one."""
    types: dict[str, str] = answer(cache, jdk.id, jdk.java, "flag types", lambda: _ask_types(jdk.java))
    return [flag for flag in flags if not flag.startswith("-D") and not is_harmless(flag, types)]


def is_harmless(flag: str, types: Mapping[str, str]) -> bool:
    """Tell whether the JVM may get the flag on this machine. `types`: of each flag that the JVM has. Pure."""
    option = _OPTION.fullmatch(flag)
    if option is None:
        return _PLAIN.fullmatch(flag) is not None
    name = option["on"] or option["name"]
    if name not in types:
        # A JVM that lists no flags may have this one all the same
        return bool(types) and name not in _UNLISTED
    if option["switch"]:
        return _SWITCHES.fullmatch(name) is not None
    return types[name] in _NUMBERS or (name in _WORDS and (option["value"] or "").isalpha())


def _ask_types(java: Path) -> dict[str, str]:
    ended = run_java(java, *_EVERY_FLAG, "-version", timeout_s=_PATIENCE_S)
    return {name: kind for kind, name in _LISTED.findall(ended.output)}


def _ask(java: Path, flags: Sequence[str]) -> str:
    ended = run_java(java, *flags, "-version", timeout_s=_PATIENCE_S)
    if ended.exit_code == 0 or _OF_THE_HOST.search(ended.output):
        return ""
    lines = [_ENDING.sub("", line) for line in ended.output.splitlines() if not _CHATTER.match(line)]
    messages = [line.removeprefix("Error: ") for line in lines if line.strip()]
    return " ".join(messages[:2]) or f"it ends with exit code {ended.exit_code}"


def collectors(cache: Cache, jdk: Jdk) -> frozenset[Collector]:
    """Return the collectors of that JDK on this machine. The JDK is asked only once."""
    return frozenset(answer(cache, jdk.id, jdk.java, "collectors", lambda: _ask_jdk(jdk.java)))


def _ask_jdk(java: Path) -> list[Collector]:
    # Azul's JVM has C4 and no other: it takes the flags of the others for the sake of old command lines.
    if "Zing" in ask_java(java, "-version"):
        return ["C4"]
    return [collector for collector, flag in COLLECTOR_FLAGS.items() if _has(java, flag)]


def _has(java: Path, flag: str) -> bool:
    """Tell whether the JVM uses that collector. Its exit code won't do: a JVM without it may warn and use another."""
    ended = run_java(java, *_SMALL, f"-XX:+{flag}", "-XX:+PrintFlagsFinal", "-version")
    return ended.exit_code == 0 and re.search(rf"\b{flag}\s+:?=\s+true\b", ended.output) is not None
