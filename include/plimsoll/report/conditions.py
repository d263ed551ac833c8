"""Capacities side by side: of the healthy cluster, with a node down, and while the cluster is changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.report.answers import headline
from plimsoll.report.formatting import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.analysis.campaign.capacity import AnswerOverStages, Capacity
    from plimsoll.domain.action import Action


@dataclass(frozen=True)
class ConditionRow:
    """The capacities of one variant with one workload under the same service levels, as text, by condition."""

    variant: str
    level: str
    capacities: tuple[str, ...]


@dataclass(frozen=True)
class ConditionTable:
    """The capacities of a campaign by what is done to the cluster meanwhile."""

    conditions: tuple[str, ...]
    rows: tuple[ConditionRow, ...]


def condition(action: Action | None) -> str:
    """Return the cluster's condition during the action in words: `with one node down`; without any `healthy`."""
    return action.condition if action else "healthy"


def condition_table(answers: Sequence[AnswerOverStages], labels: Mapping[str, str]) -> ConditionTable | None:
    """Return the table; None where a campaign looked for capacities under one condition alone."""
    conditions = tuple(dict.fromkeys(condition(one.action) for one in answers))
    if len(conditions) < 2:
        return None
    found: dict[tuple[str, str, str], dict[str, Capacity]] = {}
    for one in answers:
        workload, levels = one.question
        for capacity in one.capacities:
            place = capacity.variant, workload, " and ".join(map(str, levels))
            found.setdefault(place, {})[condition(one.action)] = capacity
    rows = (
        ConditionRow(
            ", ".join(filter(None, (labels[variant], workload))),
            level,
            tuple(headline(own[name]) if name in own else NOTHING for name in conditions),
        )
        for (variant, workload, level), own in found.items()
    )
    return ConditionTable(conditions, tuple(rows))
