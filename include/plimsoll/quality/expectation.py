"""What a suite expects, as data: each expectation is declared once, in words and in Great Expectations' terms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from plimsoll.domain.result import Check

Severity = Literal["invalid", "warning"]


@dataclass(frozen=True)
class Expected:
    """One expectation on one table. `kind` and `arguments` are Great Expectations' class and its fields.

    `meaning` says what is expected; `severity` whether a failure makes the measurement invalid or only warns.
    """

    name: str
    kind: str
    arguments: Mapping[str, Any]
    meaning: str
    severity: Severity = "invalid"


@dataclass(frozen=True)
class Validated:
    """The checks of one suite on one table, and its page of Data Docs as HTML."""

    checks: tuple[Check, ...]
    page: bytes


@dataclass(frozen=True)
class Quality:
    """All checks of an attempt or a campaign. `data_docs`: relative path → content."""

    checks: tuple[Check, ...]
    data_docs: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def reasons(self) -> tuple[str, ...]:
        """What makes it invalid; empty when it is sound."""
        return tuple(_sentence(check) for check in self.checks if not check.success and check.severity == "invalid")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know although it is sound."""
        return tuple(_sentence(check) for check in self.checks if not check.success and check.severity == "warning")


def between(column: str, low: float | None, high: float | None, *, strictly_below: bool = False) -> dict[str, Any]:
    """Arguments of `ExpectColumnValuesToBeBetween`."""
    return {"column": column, "min_value": low, "max_value": high, "strict_max": strictly_below}


def joined(parts: Mapping[str, Validated]) -> Quality:
    """Several suites as one; each page of Data Docs by the suite's name."""
    checks: Sequence[Check] = [check for part in parts.values() for check in part.checks]
    return Quality(tuple(checks), {f"{name}.html": part.page for name, part in parts.items()})


def _sentence(check: Check) -> str:
    return f"{check.name}: expected {check.expected}, observed {check.observed}"
