"""A verdict with the figures that matter here."""

from plimsoll.domain.attempt.result import DISTURBED, Check, Verdict
from plimsoll.domain.campaign.cell import AttemptKey, Cell
from plimsoll.domain.campaign.grid import cell_of
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.service_level import LevelVerdict


def verdict_of(
    definition: Definition, key: AttemptKey, cell: Cell | None = None, /, *, worst_ms: float = 50.0, **facts: object
) -> Verdict:
    """Return valid and met unless said otherwise; the worst interval of its one service level took `worst_ms`.

    `cell`: of a stage that took its loads from another one.
    """
    met = facts.get("met", True)
    level = LevelVerdict(
        service_level=definition.service_levels[0],
        met=met is True,
        judged=10,
        missed=0 if met else 3,
        not_judged=0,
        worst_ms=worst_ms,
    )
    cell = cell or cell_of(resolve(definition), key.cell_id)
    known = {
        "key": key,
        "cell": cell,
        "valid": True,
        "met": True,
        "levels": (level,),
        "attempted_ops_s": float(cell.load_ops_s),
        "achieved_ops_s": float(cell.load_ops_s),
        "rate_achieved": True,
        "code_version": "test",
    }
    return Verdict.model_validate({**known, **facts})


def disturbed_verdict(verdict: Verdict) -> Verdict:
    """Return the verdict, had the attempt missed beside noise that explains it."""
    check = Check(name=DISTURBED, success=False, expected="calm", observed="noise in each of 3 missed intervals")
    return verdict.model_copy(update={"valid": False, "met": None, "reasons": (check.sentence,), "checks": (check,)})
