"""Make the same report again from a bundle, and make a bundle with raw files from a published report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import PurePosixPath
from typing import IO

from plimsoll.domain.attempt.result import Manifest
from plimsoll.domain.text.errors import BundleError, NotFound, PlimsollError
from plimsoll.ports.store import ResultStore
from plimsoll.services.publish.bundles import Member, checksums_of, read_bundle, write_bundle
from plimsoll.services.publish.publishing import report_files, versions_here
from plimsoll.services.publish.results import Snapshot
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import StoredCampaign
from plimsoll.services.store.judged import require_raw_files
from plimsoll.services.store.listing import campaign_exists

_ODD_CONTENT = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError)
"""Raised for tables and records that this version would not write: other columns, impossible figures or sizes."""


@dataclass(frozen=True)
class ReproducedReport:
    """A report made again. `differing`: files that differ in any byte from the bundle's original report.

    `versions`: versions that have changed since the original report: name → then, now. `other_fonts`: characters in the
    differing charts that the charts' font lacks, so that the machine's own fonts draw them.
    """

    campaign_id: str
    files: Mapping[str, bytes]
    differing: tuple[str, ...]
    versions: Mapping[str, tuple[str, str]]
    other_fonts: str = ""


def report_again(stream: IO[bytes], where: str, code_version: str) -> ReproducedReport:
    """Return the bundle's report, with its original date. Raises BundleError where damaged, unsafe or too new."""
    bundle = read_bundle(stream, where)
    first, prefix = bundle.index, bundle.index.campaign_id
    snapshot = Snapshot({f"{prefix}/{name}": content for name, content in bundle.files.items()})
    try:
        files = report_files(snapshot, prefix, first.generated_at, code_version)
    except (PlimsollError, *_ODD_CONTENT) as error:
        why = error.what if isinstance(error, PlimsollError) else repr(error)
        mend = "make the report with the version of Plimsoll that made the bundle"
        raise BundleError(f"holds what no report can be made of: {why}", where=where, mend=mend) from error
    checksums = checksums_of({name: content for name, content in files.items() if name != layout.BUNDLE})
    differing = tuple(sorted({name for name, _ in checksums.items() ^ first.report.items()}))
    return ReproducedReport(
        campaign_id=prefix,
        files=files,
        differing=differing,
        versions={
            name: (first.versions.get(name, "none"), version)
            for name, version in versions_here(code_version).items()
            if first.versions.get(name) != version
        },
        other_fonts=_characters_of_other_fonts(files, differing),
    )


def _characters_of_other_fonts(files: Mapping[str, bytes], differing: Sequence[str]) -> str:
    """Return the characters that the charts' font lacks. A PNG may differ where its SVG, without glyphs, does not."""
    from plimsoll.report.charts import theme

    drawings = {str(PurePosixPath(name).with_suffix(".svg")) for name in differing} & files.keys()
    return "".join(sorted({character for name in drawings for character in theme.lacking(files[name].decode())}))


def bundle_with_raw(store: ResultStore, campaign_id: str, stream: IO[bytes]) -> None:
    """Write the bundle of the campaign's published report with all raw files of its attempts.

    Raises NotFound where no report is published or raw files were removed, and BundleError for a raw file that has
    changed since it was collected.
    """
    bundle = read_bundle(BytesIO(published_bundle(store, campaign_id)), layout.report_key(campaign_id, layout.BUNDLE))
    members = {name: Member.of(content) for name, content in bundle.files.items()}
    members |= _raw_files(store, campaign_id, bundle.files)
    write_bundle(stream, bundle.index.model_copy(update={"raw": "included"}), members)


def published_bundle(store: ResultStore, campaign_id: str) -> bytes:
    """Return the bundle of the campaign's published report. Raises NotFound where there is none."""
    campaign = StoredCampaign(store, campaign_id)
    campaign.require_id()
    try:
        return store.read(layout.report_key(campaign_id, layout.BUNDLE))
    except NotFound as error:
        if not campaign_exists(store, campaign_id):
            raise campaign.not_there() from error
        mend = f"publish it: `plimsoll report {campaign_id}`"
        raise NotFound("has no published report with a bundle", where=f"campaign {campaign_id}", mend=mend) from error


def _raw_files(store: ResultStore, campaign_id: str, files: Mapping[str, bytes]) -> Iterator[tuple[str, Member]]:
    for name, content in files.items():
        path = PurePosixPath(name)
        if path.name == layout.MANIFEST.path:
            manifest = Manifest.model_validate_json(content)
            require_raw_files(store, manifest.key)
            for entry in manifest.files:
                raw = f"{path.parent}/{entry.path}"
                yield raw, Member(entry.sha256, partial(store.read, f"{campaign_id}/{raw}"))
