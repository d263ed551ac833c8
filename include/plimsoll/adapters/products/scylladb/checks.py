"""Check, before anything starts, whether the nodes of a definition can start."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue, ValidationError

from plimsoll.adapters.products.nodes.settings import refused_settings, shown
from plimsoll.adapters.products.scylladb.settings import RESERVED, command_options
from plimsoll.domain.errors import Problem
from plimsoll.domain.product_spec import ProductSpec
from plimsoll.domain.variant import Variant
from plimsoll.ports.artefacts import ArtefactSource, how_to_fetch


def problems(spec: ProductSpec, artefacts: ArtefactSource) -> Sequence[Problem]:
    """Return all problems, in the definition's order; missing artefacts come last. Fetches nothing."""
    found = [*_settings("system.settings", spec.settings)]
    for one in spec.variants:
        found += _variant(one.where, one.variant, artefacts, spec.name)
        found += _settings(f"{one.where}.settings", one.variant.settings)
    return [*found, *artefacts.missing_of_program("node-tool", spec.key, spec.name)]


def unknown(spec: ProductSpec) -> Iterator[str]:
    """Name what only hosts can tell of each variant."""
    for one in spec.variants:
        yield (
            f"Plimsoll has never run a real ScyllaDB: whether variant {one.variant.id} starts from its archive on "
            "these hosts, and which release the archive has, shows on the hosts only"
        )


def _variant(where: str, variant: Variant, artefacts: ArtefactSource, name: str) -> Iterator[Problem]:
    if variant.jvm is not None:
        yield Problem(f"{where}.jvm", "ScyllaDB runs in no JVM", "remove `jvm`")
    if variant.archive is None:
        mend = "name its relocatable archive: `archive: {url: …, sha256: …}`"
        yield Problem(f"{where}.archive", "no registry has ScyllaDB, and the variant names no archive", mend)
    elif not artefacts.has_archive(variant.archive):
        what = f"ScyllaDB of variant {variant.id} is not in the cache"
        yield Problem(f"{where}.archive", what, how_to_fetch(name))


def _settings(where: str, settings: Mapping[str, JsonValue]) -> Iterator[Problem]:
    yield from refused_settings(where, settings, RESERVED)
    try:
        command_options(settings)
    except ValidationError as error:
        for fault in error.errors():
            place = ".".join(map(str, fault["loc"]))
            mend = "write e.g. `smp: 8`, `memory: 16G`, `overprovisioned: true`, or leave it out"
            yield Problem(f"{where}.{place}", f"{fault['msg']}; found {shown(fault['input'])}", mend)
