"""Change the declaration of a cell's steps for a test."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.support.campaigns.attempt_verdicts import disturbed_verdict

from plimsoll.domain.attempt.result import Verdict
from plimsoll.domain.text.errors import PlimsollError
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.steps import steps
from plimsoll.services.store import layout


def declare(monkeypatch: pytest.MonkeyPatch, name: str, **changes: Any) -> None:
    """Change these fields of the step with that name."""
    changed = [replace(one, **changes) if one.name == name else one for one in steps.STEPS]
    monkeypatch.setattr(steps, "STEPS", tuple(changed))


def declare_polling(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Change these fields of the polling of the load."""
    polling = steps.step("load").polling
    assert polling is not None
    declare(monkeypatch, "load", polling=replace(polling, **changes))


def disturbed(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Let noise disturb so many of the attempts that are judged from now on."""
    judge, left = steps.step("judge").run, iter(range(times))

    def judged(work: AttemptContext) -> Verdict:
        verdict = judge(work)
        assert isinstance(verdict, Verdict)
        if next(left, None) is None:
            return verdict
        noisy = disturbed_verdict(verdict)
        layout.VERDICT.write(work.toolkit.store, work.key, noisy)
        return noisy

    declare(monkeypatch, "judge", run=judged)


def failing(step: Callable[..., Any], error: PlimsollError, times: int) -> Callable[..., Any]:
    """Return the step, after it has failed that often."""
    left = iter([error] * times)

    def tried(*arguments: Any) -> Any:
        for found in left:
            raise found
        return step(*arguments)

    return tried
