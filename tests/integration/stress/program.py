"""The load generator as a user runs it: a process with files, an exit code and standard streams."""

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from hdrh.histogram import HdrHistogram
from tests.support.nodes.recorded import Interval, read_log
from tests.support.processes import PATIENCE_S, until

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.artefacts.cache import Cache
from plimsoll.adapters.artefacts.maven import jar_folder, locked_set
from plimsoll.ports.artefacts import OWN_JDK, OwnProgramName, jdk_of
from plimsoll.settings import Settings

SOON_S = 0.02
"""The longest pause between two looks at a load whose next seconds matter, s: `longest_s` of `until`."""
JVM = ("-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

BASIC = ("BasicTimeSeries", "--rf", "1")
"""A workload of a node alone."""
FEW = ("-t", "2", "-c", "10", "-r", "0.2", "--rate", "200")
"""Options of a load with few operations."""

ARCHIVE = "classes.jsa"
_NOBODY = ("--host", "127.203.41.9")
TO_NOBODY: Mapping[OwnProgramName, Sequence[str]] = {
    "load-generator": ("run", *BASIC, *_NOBODY, "-d", "2s", "--rate", "50"),
    "load-generator-for-hbase": ("run", "KeyValue", *_NOBODY, "-d", "2s", "--rate", "50"),
    "node-tool": ("probe", *_NOBODY, "--timeout", "1s"),
}
"""Arguments with which each program gets as far as it can without a database."""

# Starts a program that dies with whoever started it, also if that is killed.
_TIED = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9)
if os.getppid() != int(sys.argv[1]):
    sys.exit("orphaned")
os.execv(sys.argv[2], sys.argv[2:])
"""


@dataclass(frozen=True)
class Files:
    """What one run writes, in a folder of its own."""

    folder: Path

    @property
    def options(self) -> tuple[str, ...]:
        return (
            *("--csv", str(self.folder / "m.csv"), "--hdr", str(self.folder / "m.hdr")),
            *("--progress", str(self.folder / "progress"), "--summary", str(self.folder / "summary.json")),
        )

    def log(self, name: str) -> list[Interval]:
        return read_log(self.folder / f"m.hdr{name}")

    @property
    def summary(self) -> dict[str, Any]:
        return json.loads((self.folder / "summary.json").read_bytes())

    @property
    def progress(self) -> list[dict[str, Any]]:
        path = self.folder / "progress"
        lines = path.read_text().split("\n")[:-1] if path.exists() else []
        return [json.loads(line) for line in lines]

    def completed(self, prefix: str = "-intended-") -> Counter[str]:
        """Return operations in the logs, by operation."""
        operations = ("mutations", "selects")
        return Counter(
            {one: sum(record.histogram.total_count for record in self.log(f"{prefix}{one}")) for one in operations}
        )

    def slower(self, prefix: str, micros: int) -> int:
        """Return operations in the logs that took longer."""
        records = [*self.log(f"{prefix}mutations"), *self.log(f"{prefix}selects")]
        return sum(_above(record.histogram, micros) for record in records)


def _above(histogram: HdrHistogram, micros: int) -> int:
    values = histogram.get_recorded_iterator()
    return sum(item.count_at_value_iterated_to for item in values if item.value_iterated_to > micros)


@dataclass(frozen=True)
class Program:
    """How to start it; `log` gets what its processes say while they run."""

    java: Path
    class_path: str
    main: str
    jvm: Sequence[str] = JVM
    archive: Path | None = None
    """Its classes as the JVM maps them into memory, which takes half of a start's processor time."""

    def start(self, *arguments: str, log: BinaryIO) -> subprocess.Popen[bytes]:
        tied = [sys.executable, "-c", _TIED, str(os.getpid()), *self._argv(arguments)]
        return subprocess.Popen(tied, stdout=log, stderr=subprocess.STDOUT)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        argv = self._argv(arguments)
        return subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    def _argv(self, arguments: Sequence[str]) -> list[str]:
        shared = [f"-XX:SharedArchiveFile={self.archive}"] if self.archive else []
        return [str(self.java), *self.jvm, *shared, "-cp", self.class_path, self.main, *arguments]


def own_program(artefacts: Artefacts, name: OwnProgramName, main: str, jvm: Sequence[str] = ()) -> Program:
    """One of Plimsoll's own, on its JDK, with further flags of that."""
    jars = artefacts.program(name)
    plain = Program(artefacts.jdk(jdk_of(name)).java, class_path(jars), main)
    cache = Cache(Settings().cache, print)
    # An archive holds for the very files that it was made of: this JDK, these jars.
    place = hashlib.sha256(f"{plain.java} {jars}".encode()).hexdigest()[:12]
    entry = f"tests/classes-{name}-{place}"
    folder = cache.sealed(entry, lambda content: _archive(plain, TO_NOBODY[name], content / ARCHIVE))
    return replace(plain, jvm=(*JVM, *jvm), archive=folder / ARCHIVE)


def _archive(program: Program, arguments: Sequence[str], archive: Path) -> None:
    """Write the classes that the program loads with these arguments."""
    names = archive.with_name("names")
    listing = replace(program, jvm=(*JVM, "-Xshare:off", f"-XX:DumpLoadedClassList={names}"))
    listing.run(*arguments)
    files = (f"-XX:SharedClassListFile={names}", f"-XX:SharedArchiveFile={archive}")
    argv = [str(program.java), "-Xshare:dump", *files, "-cp", program.class_path]
    subprocess.run(argv, check=True, capture_output=True, timeout=PATIENCE_S)


def class_path(jars: Path) -> str:
    """All jars of a folder."""
    return ":".join(map(str, sorted(jars.glob("*.jar"))))


def compile_java(artefacts: Artefacts, libraries: Path, sources: Path, classes: str) -> None:
    """With the compiler that the load generator itself is compiled with."""
    locked = locked_set("ecj")
    assert locked is not None
    compiler = next(jar_folder(Cache(Settings().cache, print), locked).glob("ecj-*.jar"))
    java, jars = artefacts.jdk(OWN_JDK).java, class_path(libraries)
    argv = [str(java), "-jar", str(compiler), "-11", "-nowarn", "-cp", jars, "-d", classes, str(sources)]
    subprocess.run(argv, check=True, capture_output=True, timeout=PATIENCE_S)


@contextmanager
def answering(program: Program, classes: Path, main: str) -> Iterator[Any]:
    """Provide a function that asks a class of the tests: each question is a line, and so is its answer."""
    argv = [str(program.java), *program.jvm, "-cp", f"{classes}:{program.class_path}", main]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        given, told = process.stdin, process.stdout

        def answers(*questions: str) -> list[str]:
            found = []
            for question in questions:
                print(question, file=given)
                found.append(told.readline().rstrip("\n"))
            return found

        yield answers
        given.close()
        process.wait(timeout=30)


@dataclass(frozen=True)
class Load:
    """A load under way."""

    process: subprocess.Popen[bytes]
    files: Files
    console: Path

    def wait(self) -> int:
        """Its exit code, once it has ended."""
        return self.process.wait(timeout=PATIENCE_S)

    def said(self) -> str:
        return self.console.read_text()


@contextmanager
def running_load(
    program: Program, folder: Path, host: str, *options: str, workload: Sequence[str] = BASIC
) -> Iterator[Load]:
    """Provide a load whose timed run has had its first answers; killed at the end if it still runs."""
    with running_loads(program, folder.parent, host, {folder.name: options}, workload) as loads:
        yield loads[folder.name]


@contextmanager
def running_loads(
    program: Program,
    folder: Path,
    host: str,
    options: Mapping[str, Sequence[str]],
    workload: Sequence[str] = BASIC,
) -> Iterator[Mapping[str, Load]]:
    """Loads by name, started together, each with the options and in the folder of its name; as `running_load`."""
    with ExitStack() as running:
        loads = {}
        for name, each in options.items():
            loads[name] = _start(program, folder / name, *workload, "--host", host, *each)
            running.callback(_kill, loads[name])
        for load in loads.values():
            _await_answers(load)
        yield loads


def _start(program: Program, folder: Path, *options: str) -> Load:
    folder.mkdir(exist_ok=True)
    files, console = Files(folder), folder / "console"
    with console.open("wb") as log:
        arguments = ("run", *options, *files.options)
        return Load(program.start(*arguments, log=log), files, console)


def _await_answers(load: Load) -> None:
    def has_begun() -> bool:
        return load.process.poll() is not None or _answered(load.files)

    until(has_begun, "the timed run's first answers", longest_s=SOON_S)
    assert load.process.poll() is None, load.said()


def _kill(load: Load) -> None:
    load.process.kill()
    load.process.wait(timeout=30)


def _answered(files: Files) -> bool:
    return any(line["phase"] in ("warmup", "measure") and line["completed"] for line in files.progress)
