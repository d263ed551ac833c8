"""Check the campaign as a whole, and publish its report only if the check passes."""

import platform
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from importlib.metadata import version
from io import BytesIO
from typing import Annotated, Any

from pydantic import Field

from plimsoll.domain.attempt.result import Check
from plimsoll.domain.campaign.part import run_command
from plimsoll.domain.keys.system import IMPORTED
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import BundleError, GateClosed, NotFound
from plimsoll.ports.store import ReadableStore, ResultStore
from plimsoll.services.campaign.show.progress import record_totals
from plimsoll.services.campaign.state.completeness import Completeness, completeness, completeness_of, start_stages
from plimsoll.services.publish.bundles import CHECKSUMS, BundleIndex, Member, checksums_of, read_index, write_bundle
from plimsoll.services.publish.results import Snapshot, campaign_capacities, campaign_data, mixed_judging, take_snapshot
from plimsoll.services.publish.trends import record_figures
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore, StoredCampaign
from plimsoll.services.store.judged import GATE_PASS, GatePass, unmark_in_trends
from plimsoll.services.store.layout import Record
from plimsoll.services.toolkit import Toolkit
from plimsoll.strategies.state import C, CampaignState, CellAttempts, JudgedAttempt, campaign_state

CHART_FONT = "font of charts"


class Publication(Model):
    """A publication that is under way, or was interrupted."""

    files: Annotated[tuple[str, ...], Field(description="Names of the report's files that may be there meanwhile")]


PUBLICATION = Record("publishing.json", Publication)
_LIBRARIES = ("numpy", "pandas", "pyarrow", "altair", "vl-convert-python", "Jinja2", "pydantic", "great_expectations")


def pass_gate(
    toolkit: Toolkit, campaign_id: str, requested: Collection[str], *, incomplete: bool = False
) -> Completeness:
    """Check that all requested cells have valid attempts, and return how complete the campaign is.

    The checks over the whole campaign run when the campaign is complete, and no report is published before, unless
    somebody asks for an `incomplete` one. Raises GateClosed where a requested cell has no valid attempt, or the
    campaign's checks fail.
    """
    campaign = CampaignStore(toolkit.store, campaign_id)
    start_stages(campaign, toolkit.clock.now())
    known = completeness(campaign)
    lost = known.lost(requested)
    if incomplete or known.is_complete or 0 < len(lost) == len(known.missing):
        check_campaign(toolkit, campaign_id, incomplete=incomplete)
    elif lost:
        what = f"{len(lost)} of the {len(requested)} cells asked for have no valid attempt; {known.words}"
        raise GateClosed(what, where=f"campaign {campaign_id}", mend=_mend(campaign, lost))
    return known


def check_campaign(toolkit: Toolkit, campaign_id: str, *, incomplete: bool = False) -> tuple[Check, ...]:
    """Run and store the checks over the whole campaign, with their Data Docs.

    `incomplete`: cells without a valid attempt are no reason to refuse, as long as there is a valid one.

    Raises GateClosed when they fail. The message names the cells to run again and the command, or the attempts to judge
    again where these were judged by other service levels than the campaign's.
    """
    from plimsoll.quality.campaign_checks import cells_to_run_again, unfit
    from plimsoll.quality.campaign_checks import check_campaign as check

    campaign = CampaignStore(toolkit.store, campaign_id)
    texts = dict(campaign.verdict_files())
    verdicts = [layout.VERDICT.parse(campaign.store, key, text) for key, text in texts.items()]
    judged = (JudgedAttempt(verdict.key, verdict) for verdict in verdicts)
    state = campaign_state(campaign.resolved(), judged, CellAttempts[JudgedAttempt])
    missing = completeness_of(state)
    is_incomplete = incomplete and not missing.is_complete and any(cell.counted for cell in state.cells)
    if state.stages_without_loads and not is_incomplete:
        mend = _mend(campaign, missing.missing)
        raise GateClosed(missing.words, where=f"campaign {campaign_id}", mend=mend)
    _require_one_kind_of_judging(campaign_id, state)
    fingerprints = {verdict.key: layout.FINGERPRINT.read(campaign.store, verdict.key) for verdict in verdicts}
    quality = check(state, fingerprints)
    for path, content in quality.data_docs.items():
        toolkit.store.write(layout.DATA_DOCS.key(campaign_id, path), content)
    if unfit(quality, of_missing=not is_incomplete):
        again = cells_to_run_again(state, fingerprints) or ["see the checks"]
        what = f"the data is not fit to publish: {'; '.join(quality.reasons)}"
        raise GateClosed(what, where=f"campaign {campaign_id}", mend=_mend(campaign, again))
    passed = GatePass(
        attempts=tuple(str(verdict.key) for verdict in verdicts),
        verdicts_sha256=_digest(texts.values()),
        checks=quality.checks,
        incomplete=(*missing.missing, *missing.stages_without_loads) if is_incomplete else (),
    )
    unmark_in_trends(toolkit.store, campaign_id)
    GATE_PASS.write(toolkit.store, campaign_id, passed)
    unmark_in_trends(toolkit.store, campaign_id)
    return passed.checks


def _require_one_kind_of_judging(campaign_id: str, state: CampaignState[C]) -> None:
    if mixed := mixed_judging(campaign_id, state):
        raise GateClosed(mixed.what, where=mixed.where, mend=mixed.mend)


def _digest(verdict_texts: Iterable[bytes]) -> str:
    """Return a digest of the stored files themselves, so that a newer version with another format gets it too."""
    return sha256(b"\n".join(verdict_texts)).hexdigest()


def publish_report(toolkit: Toolkit, campaign_id: str, *, incomplete: bool = False) -> str:
    """Write the campaign's report into the store, and return its address for people.

    A campaign whose present attempts have not passed the gate is checked first. `incomplete`: where cells lack a valid
    attempt the report is of the others, and marked. Raises GateClosed.
    """
    campaign = CampaignStore(toolkit.store, campaign_id)
    passed = passed_gate(campaign)
    # A pass that somebody asked for in spite of missing cells opens the gate to nobody else
    if passed is None or (passed.incomplete and not incomplete):
        check_campaign(toolkit, campaign_id, incomplete=incomplete)
    # Before the snapshot: a verdict that is stored after this makes the figures void
    verdict_names = campaign.verdict_names()
    snapshot, now = take_snapshot(campaign), toolkit.clock.now()
    _replace_report(toolkit.store, campaign_id, report_files(snapshot, campaign_id, now, toolkit.code_version))
    record_totals(campaign, toolkit.clock.now())
    record_figures(campaign, StoredCampaign(snapshot, campaign_id), verdict_names, now)
    return toolkit.store.url(layout.report_key(campaign_id))


def _replace_report(store: ResultStore, campaign_id: str, files: Mapping[str, bytes]) -> None:
    """Write the files in place of those of the former report. What strangers put beside them stays."""
    former = _former_names(store, campaign_id)
    # First: whatever is interrupted, the next publication knows these names
    PUBLICATION.write(store, campaign_id, Publication(files=tuple(sorted(former | files.keys()))))
    for name in (name for name in files if name != layout.BUNDLE):
        store.write(layout.report_key(campaign_id, name), files[name])
    for key in store.keys(folder := layout.REPORT_FILES.folder(campaign_id)):
        if key.removeprefix(f"{folder}/") in former - files.keys():
            store.delete(key)
    store.write(layout.report_key(campaign_id, layout.BUNDLE), files[layout.BUNDLE])
    store.delete(PUBLICATION.key(campaign_id))


def _former_names(store: ReadableStore, campaign_id: str) -> frozenset[str]:
    """Return the names of the files of the published report and of interrupted ones, as far as they are on record."""
    interrupted, key = PUBLICATION.read_sound(store, campaign_id), layout.report_key(campaign_id, layout.BUNDLE)
    names = frozenset(interrupted.files if interrupted else ())
    with suppress(NotFound, BundleError):
        return names | read_index(BytesIO(store.read(key)), store.url(key)).report.keys()
    return names


def report_files(snapshot: Snapshot, campaign_id: str, at: datetime, code_version: str) -> dict[str, bytes]:
    """Return relative path → content of every file of the report, including its bundle.

    Equal arguments give equal bytes. Raises GateClosed where the snapshot holds other attempts than those that passed
    the gate, or verdicts by other service levels.
    """
    from pyarrow import default_memory_pool

    from plimsoll.report import build_report

    campaign = StoredCampaign(snapshot, campaign_id)
    passed = passed_gate(campaign)
    if passed is None:
        mend = f"make the report again: `plimsoll report {campaign_id}`"
        raise GateClosed("attempts were judged since the gate was passed", where=f"campaign {campaign_id}", mend=mend)
    data = replace(campaign_data(campaign, passed.checks, at), incomplete=passed.incomplete)
    _require_one_kind_of_judging(campaign_id, data.state)
    files = build_report(data)
    del data  # the tables of all attempts, of which packing needs none; Arrow would keep their memory for itself
    default_memory_pool().release_unused()
    return files | {layout.BUNDLE: _bundle(snapshot, campaign_id, at, code_version, files)}


def versions_here(code_version: str) -> dict[str, str]:
    """Return the versions that influence a report: Plimsoll, Python, libraries, kind of machine, the charts' font."""
    from plimsoll.report.charts import theme

    return {
        "plimsoll": code_version,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        **{name: version(name) for name in _LIBRARIES},
        CHART_FONT: theme.version(),
    }


def _bundle(
    snapshot: Snapshot, campaign_id: str, at: datetime, code_version: str, report: Mapping[str, bytes]
) -> bytes:
    index = BundleIndex(
        campaign_id=campaign_id,
        generated_at=at,
        versions=versions_here(code_version),
        commands={
            "make this report again": f"plimsoll report {layout.BUNDLE}",
            "see the definition's cells": "plimsoll plan definition.yaml",
            "run the campaign again": "plimsoll run definition.yaml",
            "check the files by hand": f"unzip {layout.BUNDLE} && sha256sum --check {CHECKSUMS}",
        },
        report=checksums_of(report),
    )
    stream = BytesIO()
    members = {key.removeprefix(f"{campaign_id}/"): Member.of(snapshot.read(key)) for key in snapshot.keys("")}
    write_bundle(stream, index, members)
    return stream.getvalue()


def passed_gate(campaign: StoredCampaign) -> GatePass | None:
    """Return the last pass; None where there was none, or attempts were judged since."""
    passed = GATE_PASS.read(campaign.store, campaign.campaign_id)
    same = passed and passed.checks and passed.verdicts_sha256 == _digest(text for _, text in campaign.verdict_files())
    return passed if same else None


def capacity_rows(toolkit: Toolkit, campaign_id: str) -> list[dict[str, Any]]:
    """Return the capacity of each variant, as `report.json` holds it."""
    campaign = CampaignStore(toolkit.store, campaign_id)
    capacities = campaign_capacities(campaign, campaign.verdicts(), toolkit.clock.now())
    return [capacity.model_dump(mode="json") for capacity in capacities]


def _mend(campaign: CampaignStore, cells: Sequence[str]) -> str:
    name, resolved = campaign.campaign_id, campaign.resolved()
    again = ", ".join(cells) or "what the next stage asks for"
    if resolved.provider.name == IMPORTED:
        return f"import other files for: {again}. What was published can't be run again; leave out variants or loads"
    lasting = [cell for cell in cells if _lasts(campaign, cell)]
    change = "change what its reasons name, on the hosts or in the definition of a new campaign"
    first = f"no run mends {', '.join(lasting)}: {change}. Then " if lasting else ""
    return (
        f"{first}run again: {again}. Cells without a valid attempt run again when the campaign's DAG is triggered with "
        f"`campaign_id` {name!r} (or by {run_command(resolved.name, name)}); any cell does when its "
        f"`run_cell` instance is cleared in the grid. `plimsoll report {name} --incomplete` publishes what is valid"
    )


def _lasts(campaign: CampaignStore, cell_id: str) -> bool:
    """Tell whether the cell's newest attempt is invalid for a reason that no run mends."""
    newest = campaign.newest_attempt(cell_id)
    verdict = layout.VERDICT.read(campaign.store, newest) if newest else None
    return verdict is not None and verdict.lasts
