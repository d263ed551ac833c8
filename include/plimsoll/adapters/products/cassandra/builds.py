"""A build of one's own: the archive that a variant names, `apache-cassandra-…-bin.tar.gz` as `ant artifacts` makes it.

The release line still decides settings and flags, so that builds and releases differ in their code alone.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from plimsoll.domain.campaign.specs import ProductSpec, VariantSpec
from plimsoll.domain.keys.variant import Archive, Download
from plimsoll.domain.text.errors import ArtefactError, Problem
from plimsoll.ports.artefacts import ArtefactSource, how_to_fetch

JAR = "apache-cassandra-[0-9]*.jar"
"""Cassandra itself among the jars of such an archive. 3.11 has `apache-cassandra-thrift-3.11.19.jar` beside it."""
_LIB = "lib"
_RELEASE = re.compile(r"apache-cassandra-(.+)\.jar")


def jars(artefacts: ArtefactSource, archive: Archive, *, thorough: bool = False) -> Path:
    """Return the folder of a build's jars, fetched if necessary. Raises ArtefactError, also for another content."""
    return artefacts.unpacked(archive, f"{_LIB}/{JAR}", thorough=thorough) / _LIB


def missing(spec: ProductSpec, artefacts: ArtefactSource) -> Iterator[Problem]:
    """Yield the archives that are not here yet. Fetches nothing."""
    for archive, variant in _archives(spec).items():
        if not artefacts.has_archive(archive):
            what = f"Cassandra of variant {variant.variant.id} is not in the cache"
            yield Problem(f"{variant.where}.archive", what, how_to_fetch(spec.name))


def problems(spec: VariantSpec, artefacts: ArtefactSource) -> Iterator[Problem]:
    """Yield what is wrong with the content of a variant's archive, if that is here. Fetches nothing."""
    archive, where = spec.variant.archive, f"{spec.where}.archive"
    if archive is None or not artefacts.has_archive(archive):
        return
    try:
        folder = jars(artefacts, archive)
    except ArtefactError as error:
        yield Problem(where, error.headline, error.mend)
        return
    # By the name of Cassandra's own jar: what its nodes will report of themselves.
    release = _RELEASE.sub(r"\1", min(path.name for path in folder.glob(JAR)))
    if release != spec.version:
        what = f"it holds Cassandra {release}, and the definition says {spec.version}"
        yield Problem(where, what, f'write `version: "{release}"` beside it, or name another archive')


def downloads(spec: ProductSpec, artefacts: ArtefactSource) -> Iterator[Download]:
    """Yield the archives as they are downloaded, here already or not. Fetches nothing."""
    for archive, variant in _archives(spec).items():
        name = f"Cassandra {variant.version} from the archive of variant {variant.variant.id}"
        yield Download(name=name, size_bytes=None, is_there=artefacts.has_archive(archive))


def prepare(spec: ProductSpec, artefacts: ArtefactSource) -> None:
    """Fetch the archives, and verify by content what is here already. Raises ArtefactError."""
    for archive in _archives(spec):
        jars(artefacts, archive, thorough=True)


def _archives(spec: ProductSpec) -> Mapping[Archive, VariantSpec]:
    """Return each archive with the first variant that names it."""
    archives: dict[Archive, VariantSpec] = {}
    for variant in spec.variants:
        if variant.variant.archive is not None:
            archives.setdefault(variant.variant.archive, variant)
    return archives
