"""Compare a campaign with the bundle of its published report: a copy of its records and tables, with checksums.

What people and runs may change later is no fault: the note, a definition that a run continued, an attempt that was
judged again, whose earlier verdict was kept, and then the checks of the whole campaign too.
"""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from tempfile import TemporaryFile

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.text.errors import BundleError, PlimsollError, StoreError
from plimsoll.services.definitions.continuing import with_sliding_windows
from plimsoll.services.housekeeping.faults import CampaignFiles, Fault
from plimsoll.services.housekeeping.known import TABLE_PLACES, attempt_and_name
from plimsoll.services.publish.bundles import Bundle, checksums_of, read_bundle
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import StoredCampaign

_BUNDLE = layout.REPORT_FILES.key("", layout.BUNDLE)
_PAGE = layout.REPORT_FILES.key("", layout.REPORT)
_REWRITTEN = {layout.VERDICT.path, layout.PROVENANCE.path, *TABLE_PLACES}
"""The files of an attempt that judging again replaces."""
_FROM_BUNDLE = "the bundle of the published report"
_AGAIN = "`--mend` puts it back from the bundle of the published report"


@dataclass(frozen=True)
class Published:
    """What the published report tells of the campaign's files.

    `files`: content by path of those that the bundle still tells the truth about. `verified`: paths of those that are
    as it says. `report`: paths of the report's files.
    """

    faults: tuple[Fault, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    verified: frozenset[str] = frozenset()
    report: frozenset[str] = frozenset()


def check_published(files: CampaignFiles) -> Published:
    """Compare everything that the bundle and its index record. Nothing where no report is published."""
    every_report = frozenset(path for path in files.listed if path.startswith("report/"))
    again = f"`--mend`, or `plimsoll report {files.campaign_id}`, publishes the report again"
    if _BUNDLE not in files.listed:
        gone = Fault("missing", files.campaign_id, _BUNDLE, "a report has one", again, remedy="publish")
        return Published((gone,) if _PAGE in files.listed else (), report=every_report)
    try:
        bundle = _read(files)
    except BundleError as error:
        # A bundle of a newer Plimsoll is not damaged, and none of an older format is to replace it
        is_newer = "is of format" in error.what
        fault = Fault(
            "differs", files.campaign_id, _BUNDLE, error.what, error.mend if is_newer else again,
            remedy="nothing" if is_newer else "publish",
        )  # fmt: skip
        return Published((fault,), report=every_report)
    expected = {path: digest for path, digest in checksums_of(bundle.files).items() if _stays(path, bundle)}
    differing = {path: now for path, now in files.compared(expected) if now != expected[path]}
    changed = _changed_since(files, bundle, differing.keys())
    faults = [
        files.fault(path, now, expected[path], _FROM_BUNDLE, _AGAIN, "restore")
        for path, now in differing.items()
        if path not in changed
    ]
    report = {layout.REPORT_FILES.key("", name): digest for name, digest in bundle.index.report.items()}
    remade = f"`--mend` makes it again from the bundle; else `plimsoll report {files.campaign_id}` makes a new report"
    faults += files.faults(report, _FROM_BUNDLE, remade, "remake")
    return Published(
        tuple(faults),
        {path: content for path, content in bundle.files.items() if path in expected and path not in changed},
        frozenset(expected.keys() - differing.keys()),
        frozenset({*report, _BUNDLE}),
    )


def _read(files: CampaignFiles) -> Bundle:
    with TemporaryFile() as stream:
        for block in files.store.blocks(files.key(_BUNDLE)):
            stream.write(block)
            files.on_bytes(len(block))
        return read_bundle(stream, files.store.url(files.key(_BUNDLE)))


def _stays(path: str, bundle: Bundle) -> bool:
    """Tell whether the file can't change unnoticed: no note, and of no attempt that still ran."""
    folder = "/".join(path.split("/")[:3])
    is_over = not path.startswith("cells/") or f"{folder}/{layout.MANIFEST.path}" in bundle.files
    return path != layout.NOTE.path and is_over


def _changed_since(files: CampaignFiles, bundle: Bundle, differing: Collection[str]) -> set[str]:
    """Return those of the files that differ which were changed in one of the ways that leave a trace."""
    changed: set[str] = set()
    if layout.DEFINITION.path in differing and _was_continued(files, bundle.files[layout.DEFINITION.path]):
        changed.add(layout.DEFINITION.path)
    again = {path.removesuffix(layout.VERDICT.path) for path in differing if _was_judged_again(files, bundle, path)}
    changed |= {f"{folder}{name}" for folder in again for name in _REWRITTEN}
    verdicts = {path for path in files.listed if path.startswith("cells/") and path.endswith(f"/{layout.VERDICT.path}")}
    if again or verdicts - bundle.files.keys():
        changed |= {path for path in differing if path.startswith(f"{layout.QUALITY}/")}
    return changed


def _was_continued(files: CampaignFiles, published: bytes) -> bool:
    """Tell whether the definition was replaced: the earlier one was kept, or sliding windows were added to it."""
    if layout.EARLIER_DEFINITION.key("", sha256(published).hexdigest()) in files.listed:
        return True
    campaign = StoredCampaign(files.store, files.campaign_id)
    with suppress(PlimsollError):
        return campaign.declared() == with_sliding_windows(campaign.parsed(published))
    return False


def _was_judged_again(files: CampaignFiles, bundle: Bundle, path: str) -> bool:
    """Tell whether it is an attempt's verdict that has replaced the published one, which was kept."""
    of_attempt = attempt_and_name(files.campaign_id, path)
    if of_attempt is None or of_attempt[1] != layout.VERDICT.path or path not in files.listed:
        return False
    with suppress(StoreError, ValueError):
        published = Verdict.model_validate_json(bundle.files[path])
        return published in layout.EARLIER_VERDICT.read_all(files.store, of_attempt[0])
    return False
