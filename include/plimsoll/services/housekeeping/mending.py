"""Mend what can be mended without losing data: copies that the report's bundle has, and what is made from other files.

Whatever can't be made again stays as it is.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO

from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.text.errors import DamagedRecord, PlimsollError, Refused
from plimsoll.services.campaign.show.progress import record_totals
from plimsoll.services.campaign.state.runs import held_alone
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.housekeeping.faults import Checked, Fault
from plimsoll.services.housekeeping.known import attempt_and_name
from plimsoll.services.judge.attempt_judging import judge_again
from plimsoll.services.publish.bundles import read_bundle
from plimsoll.services.publish.publishing import publish_report
from plimsoll.services.publish.reproducing import published_bundle, report_again
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.judged import published_without, unmark_in_trends
from plimsoll.services.store.layout import folder_of
from plimsoll.services.toolkit import Toolkit


@dataclass(frozen=True)
class Mended:
    """What became of a fault: mended, unless there is a reason why not, or what a person can do."""

    fault: Fault
    why_not: str | None = None


def mend(toolkit: Toolkit, checked: Checked) -> Iterator[Mended]:
    """Mend what is known how to, and yield what became of each fault. Nothing is done while anybody works on it."""
    if not any(fault.remedy != "nothing" for fault in checked.faults):
        yield from (Mended(fault, fault.mend) for fault in checked.faults)
    elif not checked.campaign_id:
        yield from (_dropped(toolkit, fault) for fault in checked.faults)
    else:
        with ExitStack() as holding:
            try:
                holding.enter_context(held_alone(toolkit, checked.campaign_id))
            except Refused as refused:
                yield from (Mended(fault, refused.what) for fault in checked.faults)
            else:
                yield from _mended(toolkit, checked)


def _mended(toolkit: Toolkit, checked: Checked) -> Iterator[Mended]:
    """Yield what became of each fault of a campaign that nobody else works on."""
    by_remedy = {
        fault.remedy: [other for other in checked.faults if other.remedy == fault.remedy] for fault in checked.faults
    }
    done = [
        *(Mended(fault, fault.mend) for fault in by_remedy.get("nothing", ())),
        *_restored(toolkit, checked.campaign_id, by_remedy.get("restore", ())),
        *_judged(toolkit, checked, by_remedy.get("rejudge", ())),
        *_remade(toolkit, checked.campaign_id, by_remedy.get("remake", ())),
        *(_dropped(toolkit, fault) for fault in by_remedy.get("drop", ())),
    ]
    yield from done
    if of_totals := by_remedy.get("totals"):
        # They may not be written again: totals are recorded only of a settled campaign, whose records can be read
        toolkit.store.delete(layout.TOTALS.key(checked.campaign_id))
        with suppress(PlimsollError):
            record_totals(CampaignStore(toolkit.store, checked.campaign_id), toolkit.clock.now())
        yield from map(Mended, of_totals)
    if of_report := by_remedy.get("publish"):
        # A file that nobody refers to goes into no report
        first = [item.fault.path for item in done if item.why_not is not None and item.fault.kind != "unreferenced"]
        why_not = f"no report is made while {first[0]} is at fault" if first else _unpublished(toolkit, checked)
        yield from (Mended(fault, why_not) for fault in of_report)


def _restored(toolkit: Toolkit, campaign_id: str, faults: Sequence[Fault]) -> Iterator[Mended]:
    if faults:
        content = published_bundle(toolkit.store, campaign_id)
        files = read_bundle(BytesIO(content), layout.report_key(campaign_id, layout.BUNDLE)).files
        unmark_in_trends(toolkit.store, campaign_id)
        for fault in faults:
            toolkit.store.write(f"{campaign_id}/{fault.path}", files[fault.path])
            yield Mended(fault)
        unmark_in_trends(toolkit.store, campaign_id)


def _judged(toolkit: Toolkit, checked: Checked, faults: Sequence[Fault]) -> Iterator[Mended]:
    """Judge the attempts of these tables and verdicts again, if all their raw files are as they were collected."""
    attempts = {fault.path: attempt_and_name(checked.campaign_id, fault.path) for fault in faults}
    for key in dict.fromkeys(of_attempt[0] for of_attempt in attempts.values() if of_attempt):
        folder = folder_of(key).removeprefix(f"{checked.campaign_id}/")
        own = [fault for fault in faults if fault.path.startswith(f"{folder}/")]
        # Files of strangers are no evidence, and what the bundle has was put back before.
        others = [fault for fault in checked.faults if fault.path.startswith(f"{folder}/") and fault not in own]
        evidence = [fault.path for fault in others if fault.kind != "unreferenced" and fault.remedy != "restore"]
        why_not = f"it can't be judged again while {evidence[0]} is at fault" if evidence else None
        if not evidence:
            try:
                _judge_again(toolkit, key)
            except PlimsollError as error:
                why_not = error.text()
        yield from (Mended(fault, why_not) for fault in own)


def _judge_again(toolkit: Toolkit, key: AttemptKey) -> None:
    """Judge the attempt again. A verdict that can't be read makes room, but comes back if there is no other one."""
    verdict = layout.VERDICT.key(key)
    unreadable = None
    try:
        layout.VERDICT.read(toolkit.store, key)
    except DamagedRecord:
        unreadable = toolkit.store.read(verdict)
        toolkit.store.delete(verdict)
    try:
        judge_again(AttemptContext(toolkit, key))
    except BaseException:  # Also Ctrl-C, after which the attempt would have no verdict at all
        if unreadable is not None:
            # Not over a new verdict, which may have been stored before the failure
            toolkit.store.create(verdict, unreadable)
        raise


def _remade(toolkit: Toolkit, campaign_id: str, faults: Sequence[Fault]) -> Iterator[Mended]:
    """Make the report again from its bundle, and store those of its files that are the recorded ones, byte for byte."""
    if not faults:
        return
    stream, where = BytesIO(published_bundle(toolkit.store, campaign_id)), layout.report_key(campaign_id, layout.BUNDLE)
    try:
        files = report_again(stream, where, toolkit.code_version).files
    except PlimsollError as error:
        yield from (Mended(fault, error.text()) for fault in faults)
        return
    for fault in faults:
        content = files.get(fault.path.partition("/")[2], b"")
        if sha256(content).hexdigest() == fault.expected:
            toolkit.store.write(f"{campaign_id}/{fault.path}", content)
            yield Mended(fault)
        else:
            yield Mended(fault, f"other versions made it; `plimsoll report {campaign_id}` makes a new report")


def _unpublished(toolkit: Toolkit, checked: Checked) -> str | None:
    """Publish the report again; tell why that can't be done, if so."""
    try:
        without = published_without(toolkit.store, checked.campaign_id)
        publish_report(toolkit, checked.campaign_id, incomplete=bool(without))
    except PlimsollError as error:
        return error.text()
    return None


def _dropped(toolkit: Toolkit, fault: Fault) -> Mended:
    if fault.remedy != "drop":
        return Mended(fault, fault.mend)
    if fault.unfinished:
        toolkit.store.drop(fault.unfinished)
    else:
        toolkit.store.delete("/".join(filter(None, (fault.campaign_id, fault.path))))
    return Mended(fault)
