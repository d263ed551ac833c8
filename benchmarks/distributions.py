"""Compare Plimsoll's key distributions with those of YCSB and cassandra-stress.

    .venv/bin/python -m benchmarks.distributions [--count 200000] [--max 99999]

One sample is the output of `keys`, with a distribution of `cql` or with one of YCSB's workloads. The other one, of the
same size, is drawn by the classes of the other program (site.ycsb:core 0.17.0, cassandra-stress of Cassandra
4.0-alpha2); for a workload by YCSB's whole CoreWorkload, on a database that writes down which rows are read. Three
figures compare the samples: the greatest distance between their cumulative shares (Kolmogorov-Smirnov), its p-value,
and the share of the most frequent number. For equal distributions the p-value is uniform between 0 and 1; for discrete
ones it is higher.
"""

import argparse
import hashlib
import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import ks_2samp

from plimsoll.adapters.artefacts import Artefacts
from plimsoll.adapters.artefacts.cache import Cache
from plimsoll.adapters.artefacts.jars import jar_folder
from plimsoll.adapters.artefacts.locks import LockedJar, LockedSet, locked_set
from plimsoll.settings import Settings

_JDK = "openjdk-11.0.13"
_SOURCE = Path(__file__).parent / "java" / "TheirKeys.java"
_YCSB = LockedSet(
    name="ycsb",
    roots=("site.ycsb:core:0.17.0",),
    jars=(
        LockedJar(
            coordinates="site.ycsb:core:0.17.0",
            sha256="e1c64d09bfc642715428c2e53ec129b0a98a0e634ee32bf0ae77e5b4eebb3cda",
            size_bytes=145_989,
        ),
    ),
)
_TIMEOUT_S = 300
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Pair:
    """A distribution of Plimsoll and its counterpart. `first` is the counterpart's lowest number; Plimsoll's is 0.

    `ours`: the parameters of a distribution of `cql`, or the options of another workload.
    """

    name: str
    ours: Mapping[str, Any]
    whose: str
    theirs: str
    first: int = 0
    workload: str = "cql"


def pairs(highest: int, count: int) -> Iterator[Pair]:
    """All pairs that are compared, over the numbers 0 to `highest`; a workload's inserts make more."""
    own: dict[str, Any] = {"max": highest}
    stress = f"(1..{highest + 1})"
    yield Pair("uniform", {"distribution": "uniform", **own}, "YCSB", "uniform")
    yield Pair("zipfian", {"distribution": "zipfian", **own}, "YCSB", "zipfian")
    yield Pair("zipfian, scrambled", {"distribution": "zipfian", "scrambled": True, **own}, "YCSB", "scrambled")
    yield Pair("latest", {"distribution": "latest", **own}, "YCSB", "latest")
    yield Pair("exponential", {"distribution": "exponential", **own}, "YCSB", "exponential")
    yield Pair("hotspot", {"distribution": "hotspot", **own}, "YCSB", "hotspot")
    normal = {"distribution": "normal", "outside": "clamp", **own}
    yield Pair("uniform", {"distribution": "uniform", **own}, "cassandra-stress", f"stress:uniform{stress}", 1)
    yield Pair("normal, clamped", normal, "cassandra-stress", f"stress:gaussian{stress}", 1)
    yield Pair("sequence", {"distribution": "sequence", **own}, "cassandra-stress", f"stress:seq{stress}", 1)
    # Two samples of latest rows while rows are inserted differ by the number of inserts that each has had so far.
    without = [(name, 0.0) for name in ("zipfian", "latest", "exponential", "hotspot", "uniform")]
    for distribution, inserts in (*without, ("zipfian", 0.05)):
        options = {
            **{"recordcount": highest + 1, "operationcount": count, "requestdistribution": distribution},
            **{"insertorder": "ordered", "readproportion": 1 - inserts, "updateproportion": 0},
            "insertproportion": inserts,
        }
        name = f"YcsbA, {distribution}{', 5 % inserts' if inserts else ''}"
        yield Pair(name, options, "CoreWorkload", f"core:{distribution}:{inserts}", workload="YcsbA")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200_000, help="numbers of each")
    parser.add_argument("--max", type=int, default=99_999, help="the highest number")
    options = parser.parse_args()
    programs = Programs(Settings().cache)
    print("| distribution | beside | distance | p | most frequent: ours | theirs |")
    print("|---|---|---|---|---|---|")
    for pair in pairs(options.max, options.count):
        ours = programs.ours(pair, options.count)
        theirs = programs.theirs(pair.theirs, options.max, options.count) - pair.first
        # YCSB's exponential generator is unbounded. Its workload draws again when a number is too high.
        print(_line(pair, ours, theirs[theirs <= options.max] if pair.workload == "cql" else theirs))


def _line(pair: Pair, ours: Numbers, theirs: Numbers) -> str:
    found = ks_2samp(ours, theirs)
    shares = " | ".join(_mode(numbers) for numbers in (ours, theirs))
    return f"| {pair.name} | {pair.whose} | {found.statistic:.4f} | {found.pvalue:.2f} | {shares} |"


def _mode(numbers: Numbers) -> str:
    """The most frequent number, and its share."""
    values, counts = np.unique(numbers, return_counts=True)
    place = int(np.argmax(counts))
    return f"{values[place]}: {counts[place] / len(numbers):.3%}"


@dataclass(frozen=True)
class Programs:
    """The load generator and the compiled `TheirKeys`, in Plimsoll's cache."""

    cache: Path

    def ours(self, pair: Pair, count: int) -> Numbers:
        """The keys of reads that the load generator prints."""
        options = pair.ours
        if pair.workload == "cql":
            bind = {"k": dict(pair.ours)}
            options = {"operations": [{"name": "reads", "share": 1, "statement": "SELECT :k", "bind": bind}]}
        libraries = f"{self._artefacts.load_generator()}/*"
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(options, file)
            file.flush()
            argv = ["keys", "--workload", pair.workload, "--options", file.name, "--count", str(count)]
            said = self._run("-cp", libraries, "plimsoll.stress.Main", *argv)
        reads = (line for line in said.splitlines() if line.startswith("reads"))
        return np.array([int(line.partition("=")[2].removeprefix("user")) for line in reads], dtype=np.int64)

    def theirs(self, spec: str, highest: int, count: int) -> Numbers:
        """The numbers that the other program's class draws."""
        said = self._run("-cp", f"{self._classes()}:{self._libraries()}", "TheirKeys", spec, str(highest), str(count))
        return np.array([int(line) for line in said.splitlines() if line.lstrip("-").isdigit()], dtype=np.int64)

    @property
    def _artefacts(self) -> Artefacts:
        return Artefacts(self.cache, print)

    def _libraries(self) -> str:
        ycsb = jar_folder(Cache(self.cache, print), _YCSB)
        return f"{ycsb}/*:{self._artefacts.cassandra_stress()}/*"

    def _classes(self) -> Path:
        key = hashlib.sha256(_SOURCE.read_bytes() + self._libraries().encode()).hexdigest()[:12]
        return self._artefacts.derived(f"their-keys-{key}", self._compile)

    def _compile(self, folder: Path) -> None:
        """By the rules of Java 8: a jar of cassandra-stress has classes of `java.util`, which modules forbid."""
        locked = locked_set("ecj")
        assert locked is not None, "its lock file lies in the repository"
        compiler = next(jar_folder(Cache(self.cache, print), locked).glob("ecj-*.jar"))
        parts = [entry.removesuffix("/*") for entry in self._libraries().split(":")]
        jars = ":".join(str(jar) for part in parts for jar in sorted(Path(part).glob("*.jar")))
        self._run(
            *("-jar", str(compiler), "-8", "-proc:none", "-nowarn", "-cp", jars), *("-d", str(folder), str(_SOURCE))
        )

    def _run(self, *words: str) -> str:
        argv = [str(self._artefacts.jdk(_JDK).java), "-XX:TieredStopAtLevel=1", *words]
        return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=_TIMEOUT_S).stdout


if __name__ == "__main__":
    main()
