"""Check, before anything starts, whether the nodes of a definition can start."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from plimsoll.adapters.products.cassandra.command import jvm_arguments
from plimsoll.adapters.products.cassandra.flags import TLP_2020
from plimsoll.adapters.products.cassandra.release import Release
from plimsoll.adapters.products.cassandra.releases import RELEASES, release_of
from plimsoll.adapters.products.cassandra.settings import RESERVED, TOKENS
from plimsoll.adapters.products.nodes.jvm_checks import (
    collector_problems,
    flag_problems,
    heap_problems,
    is_there,
    missing_software,
    without_jvm,
)
from plimsoll.adapters.products.nodes.jvm_flags import jdk_major
from plimsoll.adapters.products.nodes.settings import refused_settings, shown
from plimsoll.domain.errors import Problem
from plimsoll.domain.product_spec import ProductSpec, VariantSpec
from plimsoll.domain.variant import JvmConfiguration
from plimsoll.ports.artefacts import ArtefactSource

# Assumed processors of a node's host, which is not known here. Only the size of a young generation depends on it.
_CPUS = 8
_MOST_TOKENS = 1536
"""The most tokens that a node may have: `MAX_NUM_TOKENS` in Cassandra's `DatabaseDescriptor`."""


def problems(spec: ProductSpec, artefacts: ArtefactSource) -> Sequence[Problem]:
    """Return all problems, in the definition's order; missing artefacts come last. Fetches nothing."""
    found = [*_settings("system.settings", spec.settings)]
    for one in spec.variants:
        where, variant = one.where, one.variant
        if variant.jvm is None:
            found.append(without_jvm(where, variant, "Cassandra"))
        else:
            found += _variant(one, variant.jvm, artefacts)
        found += _settings(f"{where}.settings", variant.settings)
    return [*found, *missing_software(spec, artefacts)]


def _variant(spec: VariantSpec, jvm: JvmConfiguration, artefacts: ArtefactSource) -> list[Problem]:
    where, version = spec.where, spec.version
    release = release_of(version)
    wrong = [*_version(where, version, jvm), *_flag_set(where, jvm), *heap_problems(where, jvm)]
    if is_there(spec, artefacts):
        wrong += collector_problems(where, jvm, artefacts)
        if release is not None and not wrong:
            wrong += flag_problems(where, jvm, jvm_arguments(release, jvm, _CPUS), artefacts)
    return wrong


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


def _flag_set(where: str, jvm: JvmConfiguration) -> Iterator[Problem]:
    if jvm.flag_set == "tlp-2020" and jvm.collector not in TLP_2020:
        yield Problem(f"{where}.jvm.flag_set", f"tlp-2020 has no flags for {jvm.collector}", "use `shipped`")
