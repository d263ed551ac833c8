"""Values in place of the references of a definition to its parameters. Pure.

`$(name)` stands for a value anywhere in a definition. It is read without quotes in YAML of both styles, and is no
placeholder of a command, as `{name}` is. Values are put into the parsed tree and never into the text, so that none can
become a key or a second value.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ConfigDict, ValidationError

from plimsoll.domain.keys.faults import IN_QUOTES, Fault, Faulty, Path, changed_tree, faults_of, require_none
from plimsoll.domain.keys.parameters import PARAMETERS, Parameter, Parameters, Values
from plimsoll.domain.text.base import Model
from plimsoll.domain.text.wording import meant_or_known

_REFERENCE = re.compile(r"\$\$\(|\$\((?P<name>[^()]*)\)")
"""`$$(`, which stands for `$(`, or a reference."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
_OF_THE_DAG = ("name", "tags", "approve", "max_parallel", "schedule", "timezone", "trigger", "notify")
_FREE_TO_CHANGE = ("budget", "at_most", "finish_by")
"""Keys that may be raised while a campaign runs, which keeps the values of its parameters."""
WITHOUT_PARAMETERS = (*_OF_THE_DAG, *_FREE_TO_CHANGE)
"""Keys of a definition in which no reference may stand."""


class _Declared(Model):
    """The parameters of a definition whose other keys are not read yet."""

    model_config = ConfigDict(extra="ignore")

    parameters: Parameters


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
    return {PARAMETERS: own, **changed_tree(rest, lambda leaf, _: _put(leaf, known))}


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


def _replaced(tree: Any, old: str, new: str) -> Any:
    return changed_tree(tree, lambda leaf, _: leaf.replace(old, new) if isinstance(leaf, str) else leaf)


def _faults_of_references(declared: Mapping[str, Parameter], rest: Mapping[str, Any]) -> Iterator[Fault]:
    used = set()
    for path, name in _references(rest, ()):
        of_stage = path[2:] if path[0] == "stages" else path
        used.add(name)
        if name not in declared:
            mend = f"{meant_or_known(name, declared)}; where the text itself is meant, write $$({name})"
            yield Fault(path, f"$({name}) names no parameter", mend)
        elif isinstance(path[-1], str) and any(_names(path[-1])):
            yield Fault(path, "is a key, and keys can't be parameters", "write the key itself")
        elif path[0] in _OF_THE_DAG or of_stage in (("strategy",), ("strategy", "name")):
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


def _names(text: str) -> list[str]:
    return [match["name"] for match in _REFERENCE.finditer(text) if match["name"] is not None]


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


def _put(leaf: Any, values: Values) -> Any:
    if not isinstance(leaf, str):
        return leaf
    alone = _REFERENCE.fullmatch(leaf)
    if alone and alone["name"] is not None:
        return values[alone["name"]]
    return _REFERENCE.sub(lambda match: "$(" if match["name"] is None else str(values[match["name"]]), leaf)


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
    reference = _REFERENCE.fullmatch(node) if isinstance(node, str) else None
    if reference is None:
        return fault
    name, is_choice = reference["name"], "of" in written[PARAMETERS][reference["name"]]
    mend = "put its values in quotes, and the default" if is_choice else "write `type: text`, and its value in quotes"
    return Fault((PARAMETERS, name, "of" if is_choice else "type"), f"{fault.key} {fault.what}", mend)
