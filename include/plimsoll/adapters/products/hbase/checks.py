"""Check, before anything starts, whether the processes of a definition can start."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from plimsoll.adapters.products.hbase.node import jvm_arguments
from plimsoll.adapters.products.hbase.release import JDK_FLAGS, RELEASES
from plimsoll.adapters.products.hbase.roles import LEAST_HEAP, REGION_SERVER, size_of
from plimsoll.adapters.products.hbase.settings import OTHER_ROLES, REPLICATION, SHIPPED, refused, used_heaps
from plimsoll.adapters.products.nodes.jvm_flags import (
    archive_problems,
    collector_problems,
    flag_problems,
    heap_problems,
    is_there,
    jdk_major,
    missing_software,
    without_jvm,
)
from plimsoll.adapters.products.nodes.settings import shown
from plimsoll.domain.errors import Problem
from plimsoll.domain.specs import ProductSpec, VariantSpec
from plimsoll.domain.units import format_size
from plimsoll.domain.variant import JvmConfiguration, Variant
from plimsoll.domain.wording import meant_or_known, plural
from plimsoll.ports.artefacts import ArtefactSource


def problems(spec: ProductSpec, artefacts: ArtefactSource) -> Sequence[Problem]:
    """Return all problems, in the definition's order; missing artefacts come last. Fetches nothing."""
    of_system = spec.settings
    found = [*_settings("system.settings", of_system)]
    for heap in used_heaps(of_system):
        what = f"is a setting of variants, as their JVMs are: heap.{heap}"
        found.append(Problem(f"system.settings.heap.{heap}", what, "write it below `settings` of the variants"))
    for one in spec.variants:
        where, variant = one.where, one.variant
        if variant.jvm is None:
            found.append(without_jvm(where, variant, "HBase"))
        else:
            found += _variant(one, variant.jvm, artefacts)
        found += _settings(f"{where}.settings", variant.settings)
        found += _replication(one)
    return [*found, *missing_software(spec, artefacts)]


def _variant(spec: VariantSpec, jvm: JvmConfiguration, artefacts: ArtefactSource) -> list[Problem]:
    where = spec.where
    wrong = [*archive_problems(spec), *_version(where, spec.version), *_jvm(where, jvm)]
    wrong += [*heap_problems(where, jvm), *_heaps(where, spec.variant)]
    if is_there(spec, artefacts):
        wrong += collector_problems(where, jvm, artefacts)
        wrong += [] if wrong else flag_problems(where, jvm, jvm_arguments(jvm), artefacts)
    return wrong


def _version(where: str, version: str) -> Iterator[Problem]:
    if version not in RELEASES:
        yield Problem(where, f"HBase {version} is not known here", f"known: {', '.join(sorted(RELEASES))}")


def _jvm(where: str, jvm: JvmConfiguration) -> Iterator[Problem]:
    if jdk_major(jvm) not in JDK_FLAGS:
        majors = ", ".join(str(major) for major in sorted(JDK_FLAGS))
        yield Problem(f"{where}.jvm.jdk", f"HBase is not run on JDK {jdk_major(jvm)} here", f"use JDK {majors}")
    if jvm.flag_set != "shipped":
        what = f"the flag set {jvm.flag_set} is one of Cassandra's"
        yield Problem(f"{where}.jvm.flag_set", what, "remove the key, and write the `flags`")


def _heaps(where: str, variant: Variant) -> Iterator[Problem]:
    """Yield heaps of other processes than the region server which are no size, too small, or of no process."""
    for name, value in used_heaps(variant.settings).items():
        place, heap = f"{where}.settings.heap.{name}", size_of(value)
        if name == REGION_SERVER.name:
            yield Problem(place, "is the variant's own", "write it as `heap` of the variant's `jvm`")
        elif name not in OTHER_ROLES:
            mend = meant_or_known(name, dict.fromkeys(OTHER_ROLES), lead="there is")
            yield Problem(place, "is no process whose heap is a setting", mend)
        elif heap is None or heap < LEAST_HEAP:
            what = f"a process can't start with that heap; found {shown(value)}"
            yield Problem(place, what, f"write a size of at least {format_size(LEAST_HEAP)}")


def _settings(where: str, settings: Mapping[str, JsonValue]) -> Iterator[Problem]:
    for key, reason in refused(settings):
        what = f"can't be set: {reason}; found {shown(settings[key])}"
        yield Problem(f"{where}.{key}", what, "remove the line")


def _replication(spec: VariantSpec) -> Iterator[Problem]:
    copies, nodes = {**SHIPPED, **spec.settings}[REPLICATION], spec.nodes
    if not isinstance(copies, int) or not 1 <= copies <= nodes:
        what = f"HDFS can't keep {shown(copies)} copies of a block on {plural(nodes, 'node')}"
        mend = f"write {f'1 to {nodes}' if nodes > 1 else '1'}, or more `system.nodes`"
        yield Problem(f"{spec.where}.settings.{REPLICATION}", what, mend)
