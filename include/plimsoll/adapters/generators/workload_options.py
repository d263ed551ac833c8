"""Compare a workload's options in a definition with those of its load generator. For adapters of load generators."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta

from pydantic import JsonValue

from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.keys.service_level import ALL_OPERATIONS
from plimsoll.domain.keys.workload import CQL, Workload
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.errors import Problem
from plimsoll.domain.text.guesses import number_meant, way_around
from plimsoll.domain.text.units import TooLarge, format_count, format_duration, parse_count
from plimsoll.domain.text.wording import meant_or_known

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
"""What load generators read as a number, too."""
_GENERAL = ("name", "data_per_node", *Workload.foreign_options(()))


class Option(Model):
    """One option: the type of its value, its bounds, and what it means."""

    name: str
    type: str
    default: JsonValue = None
    required: bool = False
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    doc: str = ""


def given_options(workload: Workload) -> dict[str, JsonValue]:
    """Return the options that the definition gives, without the keys that every workload has."""
    dumped = workload.model_dump(mode="json")
    return {key: value for key, value in dumped.items() if key not in _GENERAL}


def protocol_problems(spec: LoadSpec, generator: str) -> Iterator[Problem]:
    """Yield a problem for each product whose clients speak something else than CQL, which the generator can't."""
    for target in spec.targets:
        if target.protocol != CQL:
            what = f"{generator} speaks {CQL}, and not {target.protocol}, as clients of {target.product} do"
            yield Problem(target.key, what, "take plimsoll-stress for the load")


def operation_problems(
    spec: LoadSpec, operations: Collection[str], weights: Sequence[str] = ("write", "read")
) -> Iterator[Problem]:
    """Yield service levels of operations that the workload does not have.

    `operations`: those that it has. Where it has none, the only fault is that none of its `weights`, which are options,
    is above 0.
    """
    if not operations:
        names = " or ".join(f"`{weight}`" for weight in weights)
        yield Problem("workload", "asks for neither reads nor writes", f"give {names} a weight above 0")
        return
    known = [ALL_OPERATIONS, *operations]
    for number, level in enumerate(spec.service_levels):
        if level.operations not in known:
            what = f"{spec.workload.name} has no operations called {level.operations!r}"
            yield Problem(f"service_levels[{number}].operations", what, meant_or_known(level.operations, known))


def length_problems(spec: LoadSpec, *, with_intervals: bool = True) -> Iterator[Problem]:
    """Yield each length that is no whole number of seconds: of the timed run, the warm-up, or intervals of levels."""
    lengths = {"timing.duration": spec.timing.duration, "timing.warmup": spec.timing.warmup}
    if with_intervals:
        lengths |= {f"service_levels[{n}].interval": level.interval for n, level in enumerate(spec.service_levels)}
    for where, length in lengths.items():
        if length % timedelta(seconds=1):
            yield Problem(where, f"{format_duration(length)} is no whole number of seconds", "round it")


def option_problems(
    where: str, what: str, options: Sequence[Option], given: Mapping[str, JsonValue]
) -> Iterator[Problem]:
    """Yield unknown names, wrong values and missing options, each at its key below `where`."""
    known = {option.name: option for option in options}
    for name, value in given.items():
        if name not in known:
            general = _GENERAL if where == "workload" else ()
            mend = way_around(("workload", name)) or meant_or_known(name, [*known, *sorted(general)])
            yield Problem(f"{where}.{name}", f"{what} has no such option", mend)
        elif fault := _fault(known[name], value):
            yield Problem(f"{where}.{name}", fault, _expected(known[name]))
    for option in options:
        if option.required and given.get(option.name) is None:
            yield Problem(where, f"{what} needs {option.name!r}", _expected(option))


def number_of(option: Option, value: JsonValue) -> float:
    """Return a count or a number as a float. Raises ValueError where it is neither."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{str(value).lower() if isinstance(value, bool) else value!r} is no number")
    if option.type == "count":
        return parse_count(value if isinstance(value, str | int) else str(value))
    if not _NUMBER.fullmatch(text := str(value).strip()):
        raise ValueError(f"{value!r} is no number")
    return float(text)  # A whole number may be too large for a float; its text is then infinite


def _fault(option: Option, value: JsonValue) -> str:
    match option.type:
        case "count" | "number":
            return _number_fault(option, value)
        case "choice":
            return "" if value in option.choices else f"{value!r} is none of the values that can stand here"
        case "boolean":
            return "" if isinstance(value, bool) else f"{value!r} is neither true nor false"
        case "text":
            return "" if isinstance(value, str) else f"{value!r} must be text: put it in quotes"
    return ""


def _number_fault(option: Option, value: JsonValue) -> str:
    try:
        number = number_of(option, value)
    except TooLarge as error:
        return str(error)
    except ValueError as error:
        return str(error) if option.type == "count" else f"{value!r} is no {_number_like(value)}"
    if option.minimum is not None and number < option.minimum:
        return f"{value} is less than {_shown(option, option.minimum)}"
    if option.maximum is not None and not number <= option.maximum:  # This refuses NaN, too
        return f"{value} is more than {_shown(option, option.maximum)}"
    return ""


def _number_like(value: JsonValue) -> str:
    """Return the advice for people who write `50%`, or another number, in the form that the option takes."""
    number = number_meant(value, is_share=True) if isinstance(value, str) else None
    return "number" if number is None else f"number like {number:g}"


def _shown(option: Option, limit: float) -> str:
    return format_count(int(limit)) if option.type == "count" else f"{limit:g}"


def _expected(option: Option) -> str:
    values = f"one of {', '.join(option.choices)}: " if option.choices else ""
    return f"{values}{option.doc[:1].lower()}{option.doc[1:]}"
