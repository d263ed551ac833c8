"""Judge an attempt: whether the measurement was sound and, if so, whether the service levels were met.

Only this module writes what was judged. `evidence` reads what judging needs, and the modules that decide by it see no
store.
"""

from plimsoll.domain.attempt.result import Manifest, Verdict
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.text.errors import NotFound
from plimsoll.ports.store import ResultStore
from plimsoll.services.cell.attempt_state import failures_recorded, note_phase
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.judge.evidence import gather, gather_imported
from plimsoll.services.judge.imported import judge_imported
from plimsoll.services.judge.measured import judge_measured
from plimsoll.services.judge.verdicts import JudgedAttempt
from plimsoll.services.store import layout
from plimsoll.services.store.judged import (
    keep_no_copy,
    keep_verdict,
    require_raw_files,
    unmark_in_trends,
    void_summaries,
)
from plimsoll.services.store.tables import write_table


def judge(work: AttemptContext) -> Verdict:
    """Judge the attempt and store its verdict. An existing verdict is only read.

    Raises NotFound while nothing was collected.
    """
    done = layout.VERDICT.read(work.store, work.key)
    if done is not None:
        unmark_in_trends(work.store, work.key.campaign_id)  # whoever stored it may not have come so far
        return done
    manifest = _manifest(work)
    note_phase(work.toolkit, work.key, "judge")
    with failures_recorded(work, "judge"):
        verdict = _judged(work, manifest)
    note_phase(work.toolkit, work.key, "done")
    return verdict


def judge_again(work: AttemptContext) -> tuple[Verdict | None, Verdict]:
    """Return the attempt's earlier verdict, and its replacement by today's rules from the raw files.

    Run again with the same rules, it changes nothing. An earlier verdict that differs is kept. Raises NotFound while
    nothing was collected, and once the raw files were removed.
    """
    earlier = layout.VERDICT.read(work.store, work.key)
    if earlier is None:
        return None, judge(work)
    return earlier, _judged(work, _manifest(work))


def _manifest(work: AttemptContext) -> Manifest:
    manifest = layout.MANIFEST.read(work.store, work.key)
    if manifest is None:
        raise NotFound("nothing was collected of this attempt", where=str(work.key), mend="run the cell again")
    require_raw_files(work.store, work.key)
    return manifest


def _judged(work: AttemptContext, manifest: Manifest) -> Verdict:
    # Also of a first verdict: one that was removed by hand gets the same name again.
    void_summaries(work.store, work.key.campaign_id)
    provenance = layout.PROVENANCE.read(work.store, work.key)
    if provenance is None:
        judged = judge_measured(gather(work, manifest))
    else:
        judged = judge_imported(gather_imported(work, provenance))
    _store(work.store, work.key, judged)
    unmark_in_trends(work.store, work.key.campaign_id)
    return judged.verdict


def _store(store: ResultStore, key: AttemptKey, judged: JudgedAttempt) -> None:
    """Store tables, provenance and Data Docs, and last the verdict. Another verdict that the attempt had is kept."""
    for name, table in judged.tables.items():
        write_table(store, key, name, table)
    if judged.provenance is not None:
        layout.PROVENANCE.write(store, key, judged.provenance)
    for path, content in judged.data_docs.items():
        store.write(layout.DATA_DOCS.key(key, path), content)
    earlier = layout.VERDICT.read(store, key)
    if earlier == judged.verdict:
        keep_no_copy(store, key, judged.verdict)
    elif earlier is not None:
        # Kept before it is replaced: killed in between, judging once more finds both and goes on. The other way round
        # the earlier verdict would be lost, because the next try finds the new one and has nothing to keep.
        keep_verdict(store, key, earlier)
    layout.VERDICT.write(store, key, judged.verdict)
