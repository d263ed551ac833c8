"""Parameters of a definition: values that one campaign may have others of. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self, TypeGuard

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from plimsoll.domain.keys.faults import IN_QUOTES, Fault, require_none
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.errors import Problem, Refused
from plimsoll.domain.text.wording import masked, meant_or_known, shortened

PARAMETERS = "parameters"
NUMBER = "number"
TEXT_VALUE = r"[A-Za-z0-9/][A-Za-z0-9._:/@=+-]*"
"""Values that people and programs may give as text: they may become words of a command line, so there are no blanks,
no quotes and no signs of a shell, and none begins as an option does.
"""
LONGEST_TEXT = 1000
MOST_PARAMETERS = 50
LARGEST = (1 << 63) - 1
"""The greatest number, which other programs keep in 64 bits."""
_SHOWN = 60


def _text_or_number(value: object) -> object:
    """Return the value without the marks that YAML leaves on it: 400.0 and 4e2 are 400."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("must be text or a number")
    if isinstance(value, str):
        return str(value)
    return float(value) if isinstance(value, float) and not value.is_integer() else int(value)


Value = Annotated[
    str | int | float,
    BeforeValidator(_text_or_number),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}]}),
]
Values = Mapping[str, str | int | float]
"""Parameter's name → value."""


class Parameter(Model):
    """A value that one campaign may have another of. `$(name)` stands for it in the definition."""

    type: Annotated[
        Literal["text", "number", "choice"],
        Field(description="`text`: letters, digits and `._:/@=+-`; `choice`: one of `of`"),
    ]
    default: Annotated[Value, Field(description="Value of campaigns that are given none")]
    description: Annotated[LeftOutIfEmpty[str], Field(max_length=LONGEST_TEXT, description="Meaning of the value")] = ""
    at_least: Annotated[
        float | None, Field(allow_inf_nan=False, description="Of a number", exclude_if=lambda bound: bound is None)
    ] = None
    at_most: Annotated[
        float | None, Field(allow_inf_nan=False, description="Of a number", exclude_if=lambda bound: bound is None)
    ] = None
    of: Annotated[LeftOutIfEmpty[tuple[Value, ...]], Field(max_length=200, description="Of a choice: its values")] = ()
    value: Annotated[
        Value | None,
        Field(
            description="Written by Plimsoll into a campaign's own copy, in which no references are left",
            exclude_if=lambda value: value is None,
        ),
    ] = None

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        require_none(self._faults())
        return self

    def _faults(self) -> Iterator[Fault]:
        if (self.type == "choice") != bool(self.of):
            mend = "write the values to choose from" if self.type == "choice" else "remove it, or write `type: choice`"
            yield Fault(("of",), "is missing" if self.type == "choice" else f"is no key of a {self.type}", mend)
        elif self.type != NUMBER and (self.at_least is not None or self.at_most is not None):
            key = "at_most" if self.at_least is None else "at_least"
            yield Fault((key,), f"is no key of a {self.type}", "remove it, or write `type: number`")
        elif wrong := self.wrong(self.default):
            yield Fault(("default",), *wrong)

    def typed(self, given: object) -> object:
        """Return what somebody gave, perhaps as text, as the value that is meant; unchanged where none is.

        JSON has 4000.0 for 4000, and both must become the same text and the same value of a campaign's copy.
        """
        value = _number(given) if self.type == NUMBER else _plain(given)
        return next((choice for choice in self.of if str(choice) == str(value)), value)

    def wrong(self, value: object) -> tuple[str, str] | None:
        """Return what is wrong with a value, and what to write instead; None for one that fits."""
        if self.type == "choice":
            fits = value in self.of and not isinstance(value, bool)
            if fits:
                return None
            in_quotes = _is_number(value) and not any(map(_is_number, self.of))
            mend = IN_QUOTES if in_quotes else meant_or_known(value, map(str, self.of))
            return f"{_shown(value)} is none of its values", mend
        return _wrong_text(value) if self.type == "text" else self._wrong_number(value)

    def _wrong_number(self, value: object) -> tuple[str, str] | None:
        if not _is_number(value):
            return f"must be a number; found {_shown(value)}", "write a number"
        low, high = self.at_least, self.at_most
        if (low is None or value >= low) and (high is None or value <= high):
            return None
        bounds = [f"{words} {bound:g}" for words, bound in (("at least", low), ("at most", high)) if bound is not None]
        return f"must be {' and '.join(bounds)}; found {_shown(value)}", "write such a number"

    @property
    def effective(self) -> str | int | float:
        return self.default if self.value is None else self.value


Parameters = Annotated[
    LeftOutIfEmpty[dict[str, Parameter]],
    Field(
        max_length=MOST_PARAMETERS,
        description="Values that one campaign may have others of, by name. `$(name)` stands for one, alone or within "
        "text; `$$(` stands for `$(`",
    ),
]


def values_line(parameters: Mapping[str, Parameter]) -> str:
    """Return values by name, and defaults where these are others: `version 5.0.3 (default 5.0.2), rate 400`."""
    return ", ".join(
        f"{name} {known.effective}" + ("" if known.effective == known.default else f" (default {known.default})")
        for name, known in parameters.items()
    )


def read_values(parameters: Mapping[str, Parameter], given: Mapping[str, Any], where: str) -> Values:
    """Return the values that somebody gave, each of its parameter's type. Raises Refused with every fault.

    `where`: who gave them.
    """
    problems, values = [], {}
    for name, value in given.items():
        if name not in parameters:
            mend = meant_or_known(name, parameters) or "the definition has no `parameters`"
            problems.append(Problem(f"{PARAMETERS}.{shortened(name, _SHOWN)}", "there is no such parameter", mend))
            continue
        values[name] = parameters[name].typed(value)
        if wrong := parameters[name].wrong(values[name]):
            problems.append(Problem(f"{PARAMETERS}.{name}", *wrong))
    if problems:
        raise Refused(problems[:20], where=where)
    return values  # type: ignore[return-value]  # whatever fits a parameter is text or a number


def _wrong_text(value: object) -> tuple[str, str] | None:
    if isinstance(value, str) and len(value) <= LONGEST_TEXT and re.fullmatch(TEXT_VALUE, value):
        return None
    mend = f"begin with a letter, a digit or a slash; at most {LONGEST_TEXT:,} characters"
    shown, mend = ("a number", IN_QUOTES) if _is_number(value) else (_shown(value), mend)
    return f"must be text of letters, digits and ._:/@=+-; found {shown}", mend


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and -LARGEST <= value <= LARGEST


def _plain(value: object) -> object:
    """Return the value as YAML's would be; unchanged where it is neither text nor a number."""
    try:
        return _text_or_number(value)
    except ValueError:
        return value


def _number(value: object) -> object:
    """Return the number that is meant, perhaps as text; unchanged where none is."""
    try:
        return _plain((float if re.search(r"[.eE]", value) else int)(value) if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return value


def _shown(value: object) -> str:
    return shortened(repr(masked(value)) if isinstance(value, str) else masked(str(value)), _SHOWN)
