"""Parameters of a definition: values that one campaign may have others of. Pure.

`$(name)` stands for a value anywhere in a definition. It is read without quotes in YAML of both styles, and is no
placeholder of a command, as `{name}` is. Values are put into the parsed tree and never into the text, so that none can
become a key or a second value.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self, TypeGuard

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema, model_validator

from plimsoll.domain.keys.faults import IN_QUOTES, Fault, Faulty, Path, faults_of, require_none
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
_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
_REFERENCE = re.compile(r"\$\$\(|\$\((?P<name>[^()]*)\)")
"""`$$(`, which stands for `$(`, or a reference."""
_OF_THE_DAG = ("name", "tags", "approve", "max_parallel", "schedule", "timezone", "trigger", "notify")
_FREE_TO_CHANGE = ("budget", "at_most", "finish_by")
"""Keys that may be raised while a campaign runs, which keeps the values of its parameters."""
_LARGEST = (1 << 63) - 1
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
    at_least: Annotated[float | None, Field(description="Of a number", exclude_if=lambda bound: bound is None)] = None
    at_most: Annotated[float | None, Field(description="Of a number", exclude_if=lambda bound: bound is None)] = None
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
        """Return the value of the campaign; the default where it was given none."""
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


class _Declared(Model):
    """The parameters of a definition whose other keys are not read yet."""

    model_config = ConfigDict(extra="ignore")

    parameters: Parameters


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


def with_values(written: Any, values: Values) -> Any:
    """Return a definition as somebody wrote it with the value of its parameter in place of each reference.

    Parameters that `values` lacks have their defaults. A campaign's own copy has its values already, and a definition
    without parameters stays unchanged. Raises Faulty for wrong parameters, unknown references, unused parameters; for
    other values than those of a campaign's own copy, and references in it.
    """
    if not isinstance(written, Mapping) or not written.get(PARAMETERS):
        return written
    try:
        declared = _Declared.model_validate({PARAMETERS: written[PARAMETERS]}).parameters
    except ValidationError as error:
        raise Faulty(faults_of(error, _Declared)) from None
    rest = {key: value for key, value in written.items() if key != PARAMETERS}
    if all(parameter.value is not None for parameter in declared.values()):
        require_none(_faults_of_own_copy(declared, rest, values))
        return {PARAMETERS: declared, **_replaced(rest, "$$(", "$(")}
    require_none(_faults_of_references(declared, rest))
    known = {name: values.get(name, parameter.default) for name, parameter in declared.items()}
    own = {name: parameter.model_copy(update={"value": known[name]}) for name, parameter in declared.items()}
    return {PARAMETERS: own, **{key: _put(value, known) for key, value in rest.items()}}


def as_own_copy(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a definition whose parameters have their values with `$$(` for each `$(`, which is text there."""
    if not content.get(PARAMETERS):
        return content
    rest = {key: value for key, value in content.items() if key != PARAMETERS}
    copied = _replaced(rest, "$(", "$$(")
    return {key: copied.get(key, value) for key, value in content.items()}


def _faults_of_own_copy(declared: Mapping[str, Parameter], rest: Mapping[str, Any], values: Values) -> Iterator[Fault]:
    """Find what would have no effect: other values, and references. Other text that looks like these is left alone:
    it has two dollars only in newer copies.
    """
    for name, parameter in declared.items():
        if values.get(name, parameter.value) != parameter.value:
            what = f"is {parameter.value} in this copy of a campaign's definition, and can't become {values[name]}"
            yield Fault((PARAMETERS, name), what, "give no other value, or use the definition that this is a copy of")
    for path, name in _references(rest, ()):
        if name in declared:
            mend = "write the value itself"
            yield Fault(path, f"$({name}) has no effect in a campaign's own copy, where values are in place", mend)


def _replaced(node: Any, old: str, new: str) -> Any:
    """Return the tree with other text for that in each value."""
    if isinstance(node, str):
        return node.replace(old, new)
    if isinstance(node, Mapping):
        return {key: _replaced(value, old, new) for key, value in node.items()}
    return [_replaced(value, old, new) for value in node] if isinstance(node, list | tuple) else node


def _faults_of_references(declared: Mapping[str, Parameter], rest: Mapping[str, Any]) -> Iterator[Fault]:
    used = set()
    for path, name in _references(rest, ()):
        used.add(name)
        if name not in declared:
            mend = f"{meant_or_known(name, declared)}; where the text itself is meant, write $$({name})"
            yield Fault(path, f"$({name}) names no parameter", mend)
        elif not isinstance(path[-1], int) and any(_names(path[-1])):
            yield Fault(path, "is a key, and keys can't be parameters", "write the key itself")
        elif path[0] in _OF_THE_DAG or _of_stage(path) in (("strategy",), ("strategy", "name")):
            what = "is the same for all campaigns of a definition, so it can't be a parameter"
            yield Fault(path, what, "write the value itself")
        elif path[0] in _FREE_TO_CHANGE:
            what = "may be changed while a campaign runs, and values of parameters may not, so it can't be a parameter"
            yield Fault(path, what, "write the value itself")
    for name, parameter in declared.items():
        if parameter.value is not None:
            yield Fault((PARAMETERS, name, "value"), "is for a campaign's own copy", "write `default`")
        if _NAME.fullmatch(name) is None:
            yield Fault((PARAMETERS, name), "is no name", "begin with a small letter, go on with these, digits and _")
        elif name not in used:
            yield Fault((PARAMETERS, name), "nothing refers to it", f"write $({name}) where it belongs, or remove it")


def _of_stage(path: Path) -> Path:
    """Return the path from the stage on, for a key of a stage; else the path itself."""
    return path[2:] if path[0] == "stages" else path


def _names(text: str) -> list[str]:
    return [found["name"] for found in _REFERENCE.finditer(text) if found["name"] is not None]


def _references(node: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the place and the name of each reference, in keys too."""
    if isinstance(node, str):
        yield from ((path, name) for name in _names(node))
    elif isinstance(node, Mapping):
        for key, value in node.items():
            yield from _references(key, (*path, key))
            yield from _references(value, (*path, key))
    elif isinstance(node, list | tuple):
        for number, value in enumerate(node):
            yield from _references(value, (*path, number))


def _put(node: Any, values: Values) -> Any:
    if isinstance(node, str):
        alone = _REFERENCE.fullmatch(node)
        if alone and alone["name"] is not None:
            return values[alone["name"]]
        return _REFERENCE.sub(lambda found: "$(" if found["name"] is None else str(values[found["name"]]), node)
    if isinstance(node, Mapping):
        return {key: _put(value, values) for key, value in node.items()}
    return [_put(value, values) for value in node] if isinstance(node, list | tuple) else node


def at_its_parameter(fault: Fault, written: Any) -> Fault:
    """Return a fault that quotes would mend at the parameter whose value it is, as the reference can't have them."""
    if not fault.mend.startswith(f"{IN_QUOTES}: "):
        return fault
    node = written
    try:
        for part in fault.path:
            node = node[part]
    except (LookupError, TypeError):  # it stands where the file has nothing
        return fault
    found = _REFERENCE.fullmatch(node) if isinstance(node, str) else None
    if found is None:
        return fault
    name, is_choice = found["name"], "of" in written[PARAMETERS][found["name"]]
    mend = "put its values in quotes, and the default" if is_choice else "write `type: text`, and its value in quotes"
    return Fault((PARAMETERS, name, "of" if is_choice else "type"), f"{fault.key} {fault.what}", mend)


def _wrong_text(value: object) -> tuple[str, str] | None:
    if isinstance(value, str) and len(value) <= LONGEST_TEXT and re.fullmatch(TEXT_VALUE, value):
        return None
    mend = f"begin with a letter, a digit or a slash; at most {LONGEST_TEXT:,} characters"
    found, mend = ("a number", IN_QUOTES) if _is_number(value) else (_shown(value), mend)
    return f"must be text of letters, digits and ._:/@=+-; found {found}", mend


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and -_LARGEST <= value <= _LARGEST


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
