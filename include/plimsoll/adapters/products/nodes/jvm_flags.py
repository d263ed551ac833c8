"""Flags of JVMs that no product changes: heap, choice of the collector, GC log, access to a JDK's packages. What
keeps the JVM of a variant's nodes from starting is found without fetching anything. And what all products that run Java
programs share.
"""

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import PurePosixPath
from urllib.parse import quote

from pydantic import JsonValue

from plimsoll.adapters.artefacts.jvm_traits import COLLECTOR_FLAGS
from plimsoll.adapters.products.nodes.own_machine import NodeTool
from plimsoll.domain.campaign.specs import ProductSpec, VariantSpec
from plimsoll.domain.keys.variant import Collector, Download, JvmConfiguration
from plimsoll.domain.text.errors import ArtefactError, Problem
from plimsoll.domain.text.units import format_size, parse_size
from plimsoll.ports.artefacts import ArtefactSource
from plimsoll.ports.controller import Clock
from plimsoll.ports.product import Product

_MIB = 1 << 20

# What chooses a collector. C4 has no flag, and JDK 11 offers ZGC only as an experiment.
CHOICE: dict[Collector, tuple[str, ...]] = {
    **{collector: (f"-XX:+{flag}",) for collector, flag in COLLECTOR_FLAGS.items()},
    "ZGC": ("-XX:+UnlockExperimentalVMOptions", f"-XX:+{COLLECTOR_FLAGS['ZGC']}"),
    "C4": (),
}

# conf/jvm.options of Cassandra 3.11 and conf/jvm8-server.options of 4.0.
_PRINTED_BY_JDK_8 = (
    "GCDetails",
    "GCDateStamps",
    "HeapAtGC",
    "TenuringDistribution",
    "GCApplicationStoppedTime",
    "PromotionFailure",
)

# Arguments that Java's launcher takes for itself. With these it would start another program than a node.
_LAUNCHER = re.compile(r"(?!-)|-{1,2}(jar|cp|classpath|class-path|version|help|h|\?|X|m|module|d|dry-run)$")

_HEAP = re.compile(r"-Xm[sx]|-XX:((Initial|Min|Max)HeapSize|(Initial|Min|Max)RAM(Percentage|Fraction)|MaxRAM)=")
_LEAST_HEAP = parse_size("256M")


def heap_flags(jvm: JvmConfiguration) -> tuple[str, ...]:
    """Return the flags of the heap, whose minimum and maximum are equal unless the variant has an `initial_heap`."""
    return f"-Xms{whole_mebibytes(jvm.initial_heap or jvm.heap)}", f"-Xmx{whole_mebibytes(jvm.heap)}"


def gc_log_flags(jvm: JvmConfiguration, path: str) -> tuple[str, ...]:
    """Return the flags that log collections and safepoints to one unrotated file. JDK 8 gets the flags of Cassandra."""
    if jdk_major(jvm) > 8:
        return (f"-Xlog:gc*,safepoint:file={path}:time,uptime,level,tags:filecount=0",)
    return (f"-Xloggc:{path}", *(f"-XX:+Print{what}" for what in _PRINTED_BY_JDK_8))


def jdk_major(jvm: JvmConfiguration) -> int:
    """Return the JDK's major version: 11 for `openjdk-11.0.13`, 8 for `openjdk-1.8.0`."""
    numbers = [int(number) for number in jvm.jdk_version.split(".")]
    return numbers[1] if numbers[0] == 1 else numbers[0]


def whole_mebibytes(size: int) -> str:
    """Return the size in whole mebibytes, because the JVM takes no fractions."""
    return format_size(size // _MIB * _MIB)


def exported(*packages: str) -> tuple[str, ...]:
    """Return the flags with which a JDK that has modules exports these packages."""
    return tuple(f"--add-exports={package}=ALL-UNNAMED" for package in packages)


def opened(*packages: str) -> tuple[str, ...]:
    """Return the flags with which such a JDK opens these packages to reflection."""
    return tuple(f"--add-opens={package}=ALL-UNNAMED" for package in packages)


def heap_problems(where: str, jvm: JvmConfiguration) -> Iterator[Problem]:
    """Yield heaps that are too small, and flags that override `heap` and `initial_heap`, on which plans rely."""
    for key, size in (("heap", jvm.heap), ("initial_heap", jvm.initial_heap)):
        if size is not None and size < _LEAST_HEAP:
            what = f"{format_size(size)} is too small for a node to start in"
            yield Problem(f"{where}.jvm.{key}", what, f"at least {format_size(_LEAST_HEAP)}")
    for number, flag in enumerate(jvm.flags):
        if _HEAP.match(flag):
            what = f"{flag} sets the heap, which `heap` already sets to {format_size(jvm.heap)}"
            mend = "remove the flag, and write the size as `heap`, or as `initial_heap` if nodes start with less"
            yield Problem(f"{where}.jvm.flags[{number}]", what, mend)


def flag_problems(
    where: str, jvm: JvmConfiguration, arguments: Sequence[str], artefacts: ArtefactSource
) -> Iterator[Problem]:
    """Yield flags with which the JVM would not start. The JVM itself is asked, with all `arguments` of a node."""
    odd = [number for number, flag in enumerate(jvm.flags) if _LAUNCHER.match(flag)]
    for number in odd:
        what = f"{jvm.flags[number]!r} is no flag of a JVM"
        yield Problem(f"{where}.jvm.flags[{number}]", what, "write flags such as -XX:+UseStringDeduplication")
    if odd:
        return
    try:
        message = artefacts.refusal(arguments, jvm.jdk, jvm.archive)
    except ArtefactError as error:
        message = error.headline
    if message:
        index = next((f"[{number}]" for number, flag in enumerate(jvm.flags) if _names(message, flag)), "")
        what = f"{jvm.jdk} does not start with these flags: {message}"
        yield Problem(f"{where}.jvm.flags{index}", what, "correct or remove the flag")


def _names(message: str, flag: str) -> bool:
    """Tell whether the JVM's message names the flag. It quotes flags without `-XX:+` and mostly without the value."""
    name = re.sub(r"^-(XX:[+-]?)?", "", flag).partition("=")[0]
    return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", message) is not None


def collector_problems(where: str, jvm: JvmConfiguration, artefacts: ArtefactSource) -> Iterator[Problem]:
    """Yield a collector that the JDK does not have, as the JDK itself tells."""
    try:
        collectors = artefacts.collectors(jvm.jdk, jvm.archive)
    except ArtefactError as error:
        yield Problem(f"{where}.jvm.jdk", error.headline, error.mend)
        return
    if jvm.collector not in collectors:
        what = f"{jvm.jdk} has no collector {jvm.collector}"
        yield Problem(f"{where}.jvm.collector", what, f"it has: {', '.join(sorted(collectors))}")


def file_url(path: PurePosixPath) -> str:
    """Return a path on a host as a URL. (`PurePath.as_uri` is deprecated since Python 3.14.)"""
    return f"file://{quote(str(path))}"


class JarProduct(Product):
    """A base of products with `name`: the JDKs and jars of its variants, and the node tool that asks their JVMs.

    `label`: the product's name for people. `patience`: longest time for all nodes together to start, where a definition
    gives none.
    """

    label: str
    patience: timedelta

    def __init__(self, artefacts: ArtefactSource, clock: Clock, patience: timedelta | None = None) -> None:
        self._artefacts, self._tool, self._clock = artefacts, NodeTool(artefacts), clock
        self._patience = patience or self.patience

    @abstractmethod
    def _settings_problems(
        self, where: str, settings: Mapping[str, JsonValue], variant: VariantSpec | None
    ) -> Iterator[Problem]:
        """Yield problems of the settings there: the system's, or those of a variant."""

    @abstractmethod
    def _jvm_problems(self, spec: VariantSpec, jvm: JvmConfiguration) -> Iterator[Problem]:
        """Yield problems of a release, and of what a variant says of its JVM, that need no JVM to be seen."""

    @abstractmethod
    def _jvm_arguments(self, spec: VariantSpec, jvm: JvmConfiguration) -> Sequence[str]:
        """Return all arguments of a node's JVM, for a variant without such problems."""

    def _archive_problems(self, spec: VariantSpec) -> Iterator[Problem]:
        """Yield the variant's archive, unless the product is also started from archives."""
        if spec.variant.archive is not None:
            what = f"would not run: {spec.product} {spec.version} is started from the jars of its release"
            mend = "remove `archive`; a build of your own is started by `database: command`"
            yield Problem(f"{spec.where}.archive", what, mend)

    def check(self, spec: ProductSpec) -> Sequence[Problem]:
        """Return all problems, in the definition's order; missing artefacts come last. Fetches nothing."""
        problems = [*self._settings_problems("system.settings", spec.settings, None)]
        for variant in spec.variants:
            if variant.variant.jvm is None:
                what = f"{self.label} runs in a JVM, and variant {variant.variant.id!r} has none"
                mend = "write e.g. `jvm: {jdk: openjdk-11.0.13, collector: G1, heap: 8G}`"
                problems.append(Problem(f"{variant.where}.jvm", what, mend))
            else:
                problems += self._variant_problems(variant, variant.variant.jvm)
            problems += self._settings_problems(f"{variant.where}.settings", variant.variant.settings, variant)
        problems += self._artefacts.missing_of_variants(spec.variants, spec.name)
        return [*problems, *self._artefacts.missing_of_program("node-tool", spec.key, spec.name)]

    def _variant_problems(self, spec: VariantSpec, jvm: JvmConfiguration) -> list[Problem]:
        where = spec.where
        problems = [*self._archive_problems(spec), *self._jvm_problems(spec, jvm), *heap_problems(where, jvm)]
        if not self._artefacts.missing_of_variants([spec], ""):
            problems += collector_problems(where, jvm, self._artefacts)
            if not problems:
                problems += flag_problems(where, jvm, self._jvm_arguments(spec, jvm), self._artefacts)
        return problems

    def unchecked(self, spec: ProductSpec) -> Sequence[str]:
        """Return sentences that name the JVM flags that could not be checked with their JDK on this machine."""
        sentences = []
        for variant in spec.variants:
            name, jvm = variant.variant.id, variant.variant.jvm
            if jvm is None or not jvm.flags:
                continue
            if self._artefacts.missing_of_variants([variant], ""):
                sentences.append(f"{jvm.jdk} is not here: the JVM flags of variant {name} were not asked of it")
            elif flags := " ".join(self._artefacts.unasked(jvm.flags, jvm.jdk, jvm.archive)):
                sentences.append(f"JVM flags of variant {name} that only its hosts can judge were not asked: {flags}")
        return sentences

    def downloads(self, spec: ProductSpec) -> Sequence[Download]:
        of_variants = self._artefacts.downloads_of_variants(spec.variants)
        return [*of_variants, *self._artefacts.downloads_of_program("node-tool")]

    def prepare(self, spec: ProductSpec) -> None:
        self._artefacts.prepare_variants(spec.variants)
        self._artefacts.prepare_program("node-tool")
