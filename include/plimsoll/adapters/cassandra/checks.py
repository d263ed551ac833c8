"""What would keep a definition's nodes from starting, found before anything starts."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from plimsoll.adapters.cassandra.flags import TLP_2020, jdk_major
from plimsoll.adapters.cassandra.release import Release
from plimsoll.adapters.cassandra.releases import RELEASES, release_of
from plimsoll.adapters.cassandra.settings import RESERVED, TOKENS
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import ArtefactError, Problem
from plimsoll.domain.units import format_size, parse_size
from plimsoll.domain.variant import Variant
from plimsoll.ports.artefacts import ArtefactSource

_LEAST_HEAP = parse_size("256M")


def problems(definition: Definition, artefacts: ArtefactSource) -> Sequence[Problem]:
    """Everything at once, in the definition's order; missing artefacts last. Fetches nothing."""
    found = list(_settings("system.settings", definition.system.settings))
    for number, variant in enumerate(definition.variants):
        where = f"variants[{number}] ({variant.id})"
        found += _version(where, definition.database_version(variant), variant)
        found += _jvm(where, variant)
        found += _settings(f"{where}.settings", variant.settings)
        if not artefacts.missing(definition.model_copy(update={"variants": (variant,)})):
            found += _collector(where, variant, artefacts)
    return [*found, *artefacts.missing(definition)]


def _settings(where: str, settings: Mapping[str, JsonValue]) -> Iterator[Problem]:
    for key in sorted(RESERVED & settings.keys()):
        yield Problem(f"{where}.{key}", "is each node's own and can't be set", "leave it out")
    tokens = settings.get(TOKENS, 1)
    if not isinstance(tokens, int) or tokens < 1:
        yield Problem(f"{where}.{TOKENS}", f"{tokens!r} is no number of tokens", "a whole number from 1")


def _version(where: str, version: str, variant: Variant) -> Iterator[Problem]:
    release = release_of(version)
    if release is None:
        lines = ", ".join(f"{release.line}.x" for release in RELEASES)
        yield Problem(where, f"Cassandra {version} is of no release line known here", f"known: {lines}")
    else:
        yield from _jdk(where, release, variant)


def _jdk(where: str, release: Release, variant: Variant) -> Iterator[Problem]:
    if jdk_major(variant.jvm) not in release.jdk_flags:
        majors = ", ".join(str(major) for major in sorted(release.jdk_flags))
        what = f"Cassandra {release.line} is not run on JDK {jdk_major(variant.jvm)} here"
        yield Problem(f"{where}.jvm.jdk", what, f"use JDK {majors}")


def _jvm(where: str, variant: Variant) -> Iterator[Problem]:
    jvm = variant.jvm
    if jvm.heap < _LEAST_HEAP:
        what = f"{format_size(jvm.heap)} is too small for a node to start in"
        yield Problem(f"{where}.jvm.heap", what, f"at least {format_size(_LEAST_HEAP)}")
    if jvm.flag_set == "tlp-2020" and jvm.collector not in TLP_2020:
        yield Problem(f"{where}.jvm.flag_set", f"tlp-2020 has no flags for {jvm.collector}", "use `shipped`")


def _collector(where: str, variant: Variant, artefacts: ArtefactSource) -> Iterator[Problem]:
    try:
        there = artefacts.collectors(variant.jvm.jdk, variant.jvm.archive)
    except ArtefactError as error:
        yield Problem(f"{where}.jvm.jdk", f"{error.where}: {error.what}", error.mend)
        return
    if variant.jvm.collector not in there:
        what = f"{variant.jvm.jdk} has no collector {variant.jvm.collector}"
        yield Problem(f"{where}.jvm.collector", what, f"it has: {', '.join(sorted(there))}")
