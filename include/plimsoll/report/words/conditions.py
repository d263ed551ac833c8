"""Capacities side by side: of the healthy cluster, with a node down, and while the cluster is changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from plimsoll.analysis.campaign.capacity import AnswerOverStages, Capacity
from plimsoll.domain.action import Action
from plimsoll.report.formatting import NOTHING
from plimsoll.report.tables.table import Column, Table
from plimsoll.report.words.answers import headline

_Carried = tuple[tuple[str, str], Mapping[str, Capacity]]
"""Variant and service level, with the capacity by condition."""


def condition(action: Action | None) -> str:
    """Return the cluster's condition during the action in words: `with one node down`; without any `healthy`."""
    return action.condition if action else "healthy"


def conditions_table(answers: Sequence[AnswerOverStages], labels: Mapping[str, str]) -> Table[_Carried] | None:
    """Return each variant's capacities by condition, for each workload and service level.

    None where a campaign looked for capacities under one condition alone.
    """
    conditions = tuple(dict.fromkeys(condition(one.action) for one in answers))
    if len(conditions) < 2:
        return None
    found: dict[tuple[str, str], dict[str, Capacity]] = {}
    for one in answers:
        workload, levels = one.question
        for capacity in one.capacities:
            named = ", ".join(filter(None, (labels[capacity.variant], workload)))
            found.setdefault((named, " and ".join(map(str, levels))), {})[condition(one.action)] = capacity
    columns: list[Column[_Carried]] = [
        Column("Variant", lambda row: row[0][0]),
        Column("Service level", lambda row: row[0][1]),
        *(Column(name.capitalize(), partial(_carried, name), "strong") for name in conditions),
    ]
    return Table("Capacity by the cluster's condition", list(found.items()), columns)


def _carried(name: str, row: _Carried) -> str:
    return headline(row[1][name]) if name in row[1] else NOTHING
