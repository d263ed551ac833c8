"""The status of campaigns, for pages, the JSON API and the command line."""

from datetime import datetime
from typing import Any

from plimsoll.analysis.campaign.cell_results import deciding_level, missed_levels, ratio
from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.attempt.status import (
    AttemptProgress,
    CampaignStateName,
    CampaignStatus,
    CampaignSummary,
    CellStatus,
    StageStatus,
    VariantName,
)
from plimsoll.domain.campaign.campaign import Campaign, notes_of_stage
from plimsoll.domain.campaign.part import Part
from plimsoll.ports.store import ResultStore
from plimsoll.services.campaign.show.progress import (
    Tally,
    TimeLeft,
    cell_progress,
    recorded_totals,
    tally_of,
    threshold_statuses,
    time_left,
)
from plimsoll.services.campaign.state.completeness import newest_request
from plimsoll.services.campaign.state.reading import CellState, Memory, read_state
from plimsoll.services.hosts.limits import deadline_of
from plimsoll.services.hosts.spending import known_usd, ledger
from plimsoll.services.steps.steps import share_done
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.store.judged import published_without
from plimsoll.strategies.stage_plans import shown_loads
from plimsoll.strategies.state import CampaignState


def campaign_status(
    store: ResultStore, campaign_id: str, resolved: Campaign, now: datetime, memory: Memory
) -> CampaignStatus:
    """Return the status of the campaign and every cell. `memory` keeps what can't change for the next call."""
    state, campaign = read_state(store, campaign_id, resolved, now, memory), CampaignStore(store, campaign_id)
    request, left, tally = newest_request(campaign), time_left_in(campaign, state, now), tally_of(state)
    facts, name = _facts(campaign, resolved, tally, now), _state(state)
    finish_by = facts["finish_by"] if name == "running" else None
    return CampaignStatus(
        **facts,
        state=name,
        seconds_left=left.seconds,
        seconds_over=left.longest_over,
        seconds_late=max((now - finish_by).total_seconds() + (left.seconds or 0.0), 0.0) if finish_by else 0.0,
        asked=None if request is None else tuple(cell_id for cell_id in state.by_id if cell_id in request.cells),
        approvals=campaign.approvals() if resolved.approve else (),  # asked for often, and a request to the store
        parameters=dict(resolved.values),
        begun_by=campaign.begun_by(resolved),
        variants=tuple(VariantName(id=variant.id, label=variant.label) for variant in resolved.variants),
        workloads=resolved.workload_ids,
        stages=stage_statuses(resolved),
        loads=tuple(sorted({cell.cell.load_ops_s for cell in state.cells})),
        repeats=resolved.most_repeats,
        service_levels=tuple(dict.fromkeys(str(level) for part in resolved.parts for level in part.service_levels)),
        thresholds=tuple(threshold_statuses(state)),
        matrix=tuple(cell_status(cell, resolved, left.over.get(cell.cell.id, 0.0)) for cell in state.cells),
    )


def stage_statuses(campaign: Campaign) -> tuple[StageStatus, ...]:
    """Return the status of the stages in order; empty where there is only one stage."""
    if not campaign.stage_ids:
        return ()
    return tuple(
        StageStatus(
            id=stage.id,
            title=stage.first.stage_title,
            strategy=stage.first.strategy.name,
            loads=shown_loads(stage.first),
            level=stage.first.level,
            repeats=stage.first.repeats,
            service_levels=tuple(map(str, stage.first.service_levels)),
            cells=stage.cells,
            opened_at=stage.opened_at,
            notes=notes_of_stage(stage.parts),
        )
        for stage in campaign.stages
    )


def campaign_summary(
    store: ResultStore, campaign_id: str, resolved: Campaign, now: datetime, memory: Memory
) -> CampaignSummary:
    """Return the campaign in one line. A settled campaign takes a few listings, however many cells it has."""
    campaign = CampaignStore(store, campaign_id)
    tally = recorded_totals(campaign)
    if tally is None:
        return summary_of(campaign_status(store, campaign_id, resolved, now, memory))
    return CampaignSummary(
        **_facts(campaign, resolved, tally, now, is_complete=True), state="complete", seconds_left=0.0
    )


def summary_of(status: CampaignStatus) -> CampaignSummary:
    """Return the status of the campaign without its cells."""
    return CampaignSummary.model_validate({name: getattr(status, name) for name in CampaignSummary.model_fields})


def time_left_in(campaign: CampaignStore, state: CampaignState[CellState], now: datetime) -> TimeLeft:
    return time_left(state.campaign, [*map(cell_progress, state.cells)], now, newest_request(campaign))


def cell_status(state: CellState, campaign: Campaign, seconds_over: float = 0.0) -> CellStatus:
    """Return the status of one cell, with the figures of the attempt that counts.

    `seconds_over`: by how much its present phase takes longer than expected, s.
    """
    newest = state.newest
    running = newest.progress if newest and newest.is_running else None
    verdict = state.shown.verdict if state.shown else None
    return CellStatus.model_validate(
        {
            "id": state.cell.id,
            **state.cell.model_dump(),
            "state": state.state,
            "attempts": len(state.attempts),
            "attempt": state.shown.key.attempt if state.shown else None,
            "runs": bool(newest and newest.is_running),
            "seconds_over": seconds_over,
            "reason": state.reason,
            "decided_by": state.decided_by.cell_id if state.decided_by else None,
            **(_running(running, campaign.part(state.cell.part)) if running else {}),
            **(_figures(verdict) if verdict else {}),
            **_newest(state),
        }
    )


def _facts(
    campaign: CampaignStore, resolved: Campaign, tally: Tally, now: datetime, *, is_complete: bool = False
) -> dict[str, Any]:
    note = layout.NOTE.read_sound(campaign.store, campaign.campaign_id)
    published = campaign.store.exists(layout.report_key(campaign.campaign_id))
    begun = tally.started_at
    return {
        "campaign_id": campaign.campaign_id,
        "title": resolved.title,
        "definition": resolved.name,
        "dag_id": resolved.dag_id,
        "in_rounds": bool(resolved.chosen_by),
        "finish_by": deadline_of(resolved, begun, begun) if begun else None,
        "cells": sum(tally.counts.values()),
        **tally.model_dump(),
        "usd": known_usd(ledger(campaign, now)),
        "budget_usd": resolved.budget,
        "note": note.text if note else "",
        "published": published,
        # A settled campaign lacks nothing, and its line in a list is to take few requests
        "published_incomplete": published
        and not is_complete
        and bool(published_without(campaign.store, campaign.campaign_id)),
    }


def _running(progress: AttemptProgress, part: Part) -> dict[str, object]:
    return {
        "phase": progress.phase,
        "note": progress.note,
        "phase_share": share_done(progress, part),
        "seconds_left": progress.seconds_left,
        "achieved_ops_s": progress.achieved_ops_s,
    }


def _newest(state: CellState) -> dict[str, object]:
    """Return the outcome of the newest attempt where an older one counts, so that a cancelled attempt is still
    visible.
    """
    if state.newest is None or state.newest is state.shown:
        return {}
    alone = CellState(state.cell, (state.newest,))
    return {"newest": alone.state, "newest_reason": alone.reason}


def _figures(verdict: Verdict) -> dict[str, object]:
    level = deciding_level(verdict)
    return {
        "achieved_ops_s": verdict.achieved_ops_s,
        "worst_ms": level.worst_ms if level else None,
        "worst_to_bound": ratio(level) if level else None,
        "worst_is_floor": verdict.worst_is_floor,
        "intervals_missed": level.missed if level else None,
        "intervals_judged": level.judged if level else None,
        "missed_levels": missed_levels(verdict),
        "stopped": verdict.stopped,
        "errors": sum(verdict.errors.values()),
    }


def _state(state: CampaignState[CellState]) -> CampaignStateName:
    if any(cell.newest and cell.newest.is_running for cell in state.cells):
        return "running"
    if state.is_complete:
        return "complete"
    return "incomplete" if any(cell.attempts for cell in state.cells) else "waiting"
