"""Check, before anything starts, whether the nodes of a definition can start."""

import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from plimsoll.adapters.products.cassandra.command import jvm_arguments
from plimsoll.adapters.products.cassandra.flags import TLP_2020, jdk_major
from plimsoll.adapters.products.cassandra.release import PRODUCT, Release
from plimsoll.adapters.products.cassandra.releases import RELEASES, release_of
from plimsoll.adapters.products.cassandra.settings import RESERVED, TOKENS
from plimsoll.adapters.products.nodes.settings import refused_settings, shown
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import ArtefactError, Problem
from plimsoll.domain.units import format_size, parse_size
from plimsoll.domain.variant import JvmConfiguration, Variant
from plimsoll.ports.artefacts import ArtefactSource

# Assumed processors of a node's host, which is not known here. Only the size of a young generation depends on it.
_CPUS = 8
# Arguments that Java's launcher takes for itself. With these it would start another program than a node.
_LAUNCHER = re.compile(r"(?!-)|-{1,2}(jar|cp|classpath|class-path|version|help|h|\?|X|m|module|d|dry-run)$")
_HEAP = re.compile(r"-Xm[sx]|-XX:((Initial|Min|Max)HeapSize|(Initial|Min|Max)RAM(Percentage|Fraction)|MaxRAM)=")
_MOST_TOKENS = 1536
"""The most tokens that a node may have: `MAX_NUM_TOKENS` in Cassandra's `DatabaseDescriptor`."""
_LEAST_HEAP = parse_size("256M")


def problems(definition: Definition, artefacts: ArtefactSource) -> Sequence[Problem]:
    """Return all problems, in the definition's order; missing artefacts come last. Fetches nothing."""
    found = [
        *_settings("system.settings", definition.settings_of_system(PRODUCT)),
    ]
    for number, variant in definition.of_product(PRODUCT):
        where = f"variants[{number}] ({variant.id})"
        if variant.jvm is None:
            found.append(_without_jvm(where, variant))
        else:
            found += _variant(where, definition, variant, variant.jvm, artefacts)
        found += _settings(f"{where}.settings", variant.settings)
    tool = artefacts.missing_of_program("node-tool", definition.key_of_product(PRODUCT), definition)
    return [*found, *artefacts.missing_of_variants(only_cassandra(definition)), *tool]


def _variant(
    where: str, definition: Definition, variant: Variant, jvm: JvmConfiguration, artefacts: ArtefactSource
) -> list[Problem]:
    version = definition.version_of(variant)
    wrong = [*_version(where, version, jvm), *_jvm(where, jvm), *_heap_flags(where, jvm)]
    if _is_there(definition, variant, artefacts):
        wrong += _collector(where, jvm, artefacts)
        wrong += [] if wrong else _flags(where, version, jvm, artefacts)
    return wrong


def _without_jvm(where: str, variant: Variant) -> Problem:
    what = f"Cassandra runs in a JVM, and variant {variant.id!r} has none"
    return Problem(f"{where}.jvm", what, "write e.g. `jvm: {jdk: openjdk-11.0.13, collector: G1, heap: 8G}`")


def only_cassandra(definition: Definition) -> Definition:
    """Return the definition with only its variants of Cassandra."""
    own = tuple(variant for _, variant in definition.of_product(PRODUCT))
    return definition.model_copy(update={"variants": own})


def unchecked(definition: Definition, artefacts: ArtefactSource) -> Iterator[str]:
    """Yield sentences that name the flags that no JVM could check on this machine. Fetches nothing."""
    for _, variant in definition.of_product(PRODUCT):
        jvm = variant.jvm
        if jvm is None or not jvm.flags:
            continue
        if not _is_there(definition, variant, artefacts):
            yield f"{jvm.jdk} is not here: the JVM flags of variant {variant.id} were not asked of it"
        elif there := artefacts.unasked(jvm.flags, jvm.jdk, jvm.archive):
            yield f"JVM flags of variant {variant.id} that only its hosts can judge were not asked: {' '.join(there)}"


def _is_there(definition: Definition, variant: Variant, artefacts: ArtefactSource) -> bool:
    return not artefacts.missing_of_variants(definition.model_copy(update={"variants": (variant,)}))


def _settings(where: str, settings: Mapping[str, JsonValue]) -> Iterator[Problem]:
    yield from refused_settings(where, settings, RESERVED)
    tokens = settings.get(TOKENS, 1)
    if not isinstance(tokens, int) or isinstance(tokens, bool) or not 1 <= tokens <= _MOST_TOKENS:
        mend = f"write a whole number from 1 to {_MOST_TOKENS}, such as `{TOKENS}: 16`"
        yield Problem(f"{where}.{TOKENS}", f"must be a number of tokens; found {shown(tokens)}", mend)


def _version(where: str, version: str, jvm: JvmConfiguration) -> Iterator[Problem]:
    release = release_of(version)
    if release is None:
        lines = ", ".join(f"{release.line}.x" for release in RELEASES)
        yield Problem(where, f"Cassandra {version} is of no release line known here", f"known: {lines}")
    else:
        yield from _jdk(where, release, jvm)


def _jdk(where: str, release: Release, jvm: JvmConfiguration) -> Iterator[Problem]:
    if jdk_major(jvm) not in release.jdk_flags:
        majors = ", ".join(str(major) for major in sorted(release.jdk_flags))
        what = f"Cassandra {release.line} is not run on JDK {jdk_major(jvm)} here"
        yield Problem(f"{where}.jvm.jdk", what, f"use JDK {majors}")


def _jvm(where: str, jvm: JvmConfiguration) -> Iterator[Problem]:
    for key, size in (("heap", jvm.heap), ("initial_heap", jvm.initial_heap)):
        if size is not None and size < _LEAST_HEAP:
            what = f"{format_size(size)} is too small for a node to start in"
            yield Problem(f"{where}.jvm.{key}", what, f"at least {format_size(_LEAST_HEAP)}")
    if jvm.flag_set == "tlp-2020" and jvm.collector not in TLP_2020:
        yield Problem(f"{where}.jvm.flag_set", f"tlp-2020 has no flags for {jvm.collector}", "use `shipped`")


def _heap_flags(where: str, jvm: JvmConfiguration) -> Iterator[Problem]:
    """Yield flags that would override `heap` and `initial_heap`. Plans and fingerprints rely on `heap`."""
    for number, flag in enumerate(jvm.flags):
        if _HEAP.match(flag):
            what = f"{flag} sets the heap, which `heap` already sets to {format_size(jvm.heap)}"
            mend = "remove the flag, and write the size as `heap`, or as `initial_heap` if nodes start with less"
            yield Problem(f"{where}.jvm.flags[{number}]", what, mend)


def _flags(where: str, version: str, jvm: JvmConfiguration, artefacts: ArtefactSource) -> Iterator[Problem]:
    """Yield flags with which the JVM would not start. The JVM itself is asked, with all other flags of a node."""
    release = release_of(version)
    odd = [number for number, flag in enumerate(jvm.flags) if _LAUNCHER.match(flag)]
    for number in odd:
        what = f"{jvm.flags[number]!r} is no flag of a JVM"
        yield Problem(f"{where}.jvm.flags[{number}]", what, "write flags such as -XX:+UseStringDeduplication")
    if odd or release is None:
        return
    try:
        said = artefacts.refusal(jvm_arguments(release, jvm, _CPUS), jvm.jdk, jvm.archive)
    except ArtefactError as error:
        said = f"{error.where}: {error.what}"
    if said:
        place = next((f"[{number}]" for number, flag in enumerate(jvm.flags) if _names(said, flag)), "")
        what = f"{jvm.jdk} does not start with these flags: {said}"
        yield Problem(f"{where}.jvm.flags{place}", what, "correct or remove the flag")


def _names(said: str, flag: str) -> bool:
    """Tell whether the JVM's message names the flag. It quotes flags without `-XX:+` and mostly without the value."""
    name = re.sub(r"^-(XX:[+-]?)?", "", flag).partition("=")[0]
    return bool(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said) is not None


def _collector(where: str, jvm: JvmConfiguration, artefacts: ArtefactSource) -> Iterator[Problem]:
    try:
        there = artefacts.collectors(jvm.jdk, jvm.archive)
    except ArtefactError as error:
        yield Problem(f"{where}.jvm.jdk", f"{error.where}: {error.what}", error.mend)
        return
    if jvm.collector not in there:
        what = f"{jvm.jdk} has no collector {jvm.collector}"
        yield Problem(f"{where}.jvm.collector", what, f"it has: {', '.join(sorted(there))}")
