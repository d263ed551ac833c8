"""Judge an attempt: was the measurement sound, and if so, was the service level met?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.analysis.coincidence import Collected, coincidence_frame, occurrences
from plimsoll.analysis.gclog import pauses_frame
from plimsoll.analysis.hosts import hosts_frame
from plimsoll.analysis.judgement import Judgement, Run
from plimsoll.analysis.judging import judge_logs
from plimsoll.analysis.jvms import jvms_frame
from plimsoll.domain.errors import NotFound
from plimsoll.domain.result import Verdict
from plimsoll.quality.attempt import ERROR_LIMIT, Measured, check_attempt, error_share
from plimsoll.services import layout
from plimsoll.services.attempts import failures_recorded
from plimsoll.services.campaigns import read_fingerprint, read_manifest, read_verdict, write_model
from plimsoll.services.evidence import Evidence, gather
from plimsoll.services.progress import note_phase
from plimsoll.services.results import write_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from plimsoll.domain.result import Check, Manifest
    from plimsoll.quality.expectation import Quality
    from plimsoll.services.attempts import Work


def judge(work: Work) -> Verdict:
    """The attempt's verdict, stored. Judged before, it is only read. NotFound while nothing was collected."""
    done = read_verdict(work.toolkit.store, work.key)
    if done is not None:
        return done
    manifest = read_manifest(work.toolkit.store, work.key)
    if manifest is None:
        raise NotFound("nothing was collected of this attempt", where=str(work.key), mend="run the cell again")
    note_phase(work.toolkit.store, work.toolkit.clock, work.key, "judge")
    with failures_recorded(work, "judge"):
        verdict = _judged(work, manifest)
    note_phase(work.toolkit.store, work.toolkit.clock, work.key, "done")
    return verdict


def _judged(work: Work, manifest: Manifest) -> Verdict:
    evidence = gather(work, manifest)
    judgement = _judgement(work, evidence)
    quality = None if manifest.failure else _quality(work, manifest, judgement, evidence)
    verdict = _verdict(work, manifest, evidence, judgement, quality)
    _store(work, evidence, judgement, quality, verdict)
    return verdict


def _judgement(work: Work, evidence: Evidence) -> Judgement:
    if not evidence.response_times:
        return Judgement(reasons=("no response times were recorded",))
    run = Run(
        warmup=work.definition.timing.warmup,
        duration=work.definition.timing.duration,
        attempted_ops_s=work.cell.load_ops_s,
        started_at=evidence.summary.started_at,
        operations=evidence.summary.answered,
    )
    return judge_logs(evidence.response_times, run, work.definition.service_levels)


def _quality(work: Work, manifest: Manifest, judgement: Judgement, evidence: Evidence) -> Quality:
    fingerprint = read_fingerprint(work.toolkit.store, work.key)
    if fingerprint is None:
        raise NotFound("there is no fingerprint of this attempt", where=str(work.key), mend="run the cell again")
    measured = Measured(
        intervals=judgement.intervals.frame(),
        summary=evidence.summary,
        fingerprint=fingerprint,
        samples=evidence.samples,
        nodes_down=manifest.nodes_down,
        stalls_s=judgement.stalls_s,
    )
    return check_attempt(work.definition, work.cell, measured)


def _is_met(judgement: Judgement, evidence: Evidence) -> bool:
    """A failed operation has no response time, but it was not answered in time either: too many are a miss."""
    return bool(judgement.met) and error_share(evidence.summary) < ERROR_LIMIT


def _verdict(
    work: Work, manifest: Manifest, evidence: Evidence, judgement: Judgement, quality: Quality | None
) -> Verdict:
    reasons = tuple(dict.fromkeys(_reasons(manifest, judgement, quality)))
    return Verdict(
        key=work.key,
        cell=work.cell,
        valid=not reasons,
        reasons=reasons,
        warnings=(*judgement.notes, *(quality.warnings if quality else ())),
        met=None if reasons else _is_met(judgement, evidence),
        levels=judgement.levels,
        attempted_ops_s=work.cell.load_ops_s,
        achieved_ops_s=judgement.achieved_ops_s,
        rate_achieved=judgement.rate_achieved,
        errors=evidence.summary.errors,
        operations=judgement.operations,
        maxima=judgement.maxima,
        maxima_by_operation=dict(judgement.maxima_by_operation),
        started_at=evidence.summary.started_at,
        checks=_checks(quality),
        code_version=work.toolkit.code_version,
    )


def _reasons(manifest: Manifest, judgement: Judgement, quality: Quality | None) -> Iterator[str]:
    if manifest.failure:
        # What the logs of a failed attempt lack follows from its failure.
        yield manifest.failure
        return
    yield from judgement.reasons
    if quality is not None:
        yield from quality.reasons


def _checks(quality: Quality | None) -> tuple[Check, ...]:
    return tuple(quality.checks) if quality else ()


def _store(work: Work, evidence: Evidence, judgement: Judgement, quality: Quality | None, verdict: Verdict) -> None:
    store, key = work.toolkit.store, work.key
    write_table(store, key, layout.INTERVALS, judgement.intervals.frame())
    if evidence.summary.started_at is not None:
        _store_circumstances(work, evidence, judgement, evidence.summary.started_at)
    for path, content in (quality.data_docs if quality else {}).items():
        store.write(layout.attempt_file(key, f"{layout.QUALITY}/{path}"), content)
    write_model(store, key, layout.VERDICT, verdict)


def _store_circumstances(work: Work, evidence: Evidence, judgement: Judgement, started_at: datetime) -> None:
    """Pauses, and what else happened in each judged interval, on the load generator's clock."""
    store, key = work.toolkit.store, work.key
    fingerprint = read_fingerprint(store, key)
    ahead_ms = fingerprint.ahead_ms() if fingerprint else {}
    pauses = pauses_frame(evidence.pauses, started_at, ahead_ms)
    collected = Collected(
        started_at=started_at,
        ahead_ms=ahead_ms,
        pauses=pauses if evidence.pauses else None,
        events=evidence.events,
        seconds=evidence.seconds,
        samples=evidence.samples,
        load_cpus=fingerprint.load_host.cpus if fingerprint else None,
    )
    bound_ms = work.definition.service_levels[0].bound_ms
    table = coincidence_frame(judgement.intervals.frame(), occurrences(collected), bound_ms)
    write_table(store, key, layout.PAUSES, pauses)
    write_table(store, key, layout.COINCIDENCES, table)
    timing = work.definition.timing
    judged = started_at + timing.warmup, started_at + timing.duration
    cpus = {node.host: node.facts.cpus for node in fingerprint.nodes} if fingerprint else {}
    write_table(store, key, layout.HOSTS, hosts_frame(evidence.samples, judged))
    write_table(store, key, layout.JVMS, jvms_frame(evidence.pauses, judged, ahead_ms, cpus))
