"""Read YAML files that people write, within limits, with the line of every key for messages about faults."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.constructor import RoundTripConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import CollectionNode, Node, ScalarNode

from plimsoll.domain.keys.faults import Path, as_written, faults_of
from plimsoll.domain.keys.parameters import Values
from plimsoll.domain.keys.substitution import at_its_parameter
from plimsoll.domain.text.errors import DefinitionError, Problem
from plimsoll.domain.text.wording import shortened

_M = TypeVar("_M", bound=BaseModel)
_MOST_LEVELS = 50
_MOST_CHARACTERS = 1 << 20
_MOST_VALUES = 1_000_000
"""The greatest number of values with every alias written out: a few lines of aliases of aliases can stand for more than
any memory holds.
"""
_STEP = re.compile(r"[^.\[\]]+")
_UNTAGGED = "put it in quotes, without a tag such as `!!int`"
_SHOWN = 60
_REMARK = re.compile(r" \([^)]*\)")
# The first that fits counts, so the tab comes before all other characters
_EXPLANATIONS: Sequence[tuple[str, str, str]] = (
    (r"^(.+) is read as (\w+), and is none$", "{0} is read as {1}, and is none", _UNTAGGED),
    (r"found character '\\t'", "a tab stands where only blanks may", "indent with blanks"),
    (r"found duplicate key (\S+)", "the key {0} stands twice", "remove one of them"),
    (r"mapping values are not allowed", "a second `key:` stands on one line", "put text with a colon in quotes"),
    (
        r"found undefined alias '?([^']+)",
        "the alias *{0} names no anchor",
        "write &{0} at the value that it stands for",
    ),
    (r"found character '(.)'", "{0} can't begin a value", "put the text in quotes"),
    (r"another document", "a second document begins here", "put each in a file of its own"),
    (r"end of stream while", "a quote is opened and never closed", "close it"),
    (r"expected ',' or '([\]}])'", "a bracket is opened and not closed with {0}, or a comma is missing", "mend it"),
    (r"expected <block end>", "this line does not belong to what stands above it", "check how far it is indented"),
)
"""The parser's words → what is wrong, how to mend it. Anything else is shown in the parser's words."""


class _BoundedConstructor(RoundTripConstructor):
    """A constructor of the values of a document whose depth and size were checked before."""

    def construct_document(self, node: Node) -> Any:
        _measure(node, {}, 1)
        return super().construct_document(node)

    def construct_non_recursive_object(self, node: Node, tag: str | None = None) -> Any:
        if isinstance(node, ScalarNode):
            _join_halves(node)
        try:
            return super().construct_non_recursive_object(node, tag)
        except (YAMLError, RecursionError, _Unbounded):
            raise
        except Exception as error:  # ruamel lets errors of Python through, which know no line
            if not isinstance(node, ScalarNode):
                raise
            kind = str(node.tag).rpartition(":")[2]
            words = f"{shortened(node.value, _SHOWN)!r} is read as {kind}, and is none"
            raise MarkedYAMLError(problem=words, problem_mark=node.start_mark) from error


class _Unbounded(Exception):
    """Raised for a document that exceeds the limits, with the reason and the line (from 1)."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what, self.line = what, line


@dataclass(frozen=True)
class Document:
    """A YAML document: `content` as plain values with their lines, and the text that it came from."""

    content: Any
    text: str
    where: str

    def model(self, kind: type[_M], values: Values | None = None) -> _M:
        """Return the content as that model. Raises DefinitionError with each fault: key, line, found, what to write.

        `values`: those of a definition's parameters that are not to have their defaults.
        """
        if not isinstance(self.content, dict):
            required = ", ".join(name for name, field in kind.model_fields.items() if field.is_required())
            what = "is empty" if self.content is None else "is no mapping of keys to values"
            problem = Problem("the whole file", what, f"write at least the keys {required}")
            raise DefinitionError([problem], where=self.where)
        try:
            return kind.model_validate(as_written(self.content, kind), context=values)
        except ValidationError as error:
            faults = [at_its_parameter(fault, self.content) for fault in faults_of(error, kind, self.source)]
            problems = [fault.problem(self.line(fault.path)) for fault in faults]
            raise DefinitionError(problems, where=self.where) from None

    def located(self, problems: Iterable[Problem]) -> list[Problem]:
        """Return the problems, each with the line of its key. Problems of other files are returned unchanged."""
        lines = [(problem, self.line_of(problem.where)) for problem in problems]
        return [replace(known, where=f"{known.where} (line {line})") if line else known for known, line in lines]

    def line(self, path: Path) -> int | None:
        """Return the line (from 1) of the innermost key of the path that the file contains; None for the whole file."""
        lines = [position[0] + 1 for position in self._places(path)]
        return lines[-1] if lines else None

    def line_of(self, key: str) -> int | None:
        """Return the line of a key as that problems use: `variants[0] (g1).jvm.heap`, `variants.g1.jvm.heap`."""
        path: list[int | str] = []
        node = self.content
        for name in _STEP.findall(_REMARK.sub("", key)):
            part = _part(node, name)
            if part is None:
                break
            path.append(part)
            node = node[part]
        return self.line(tuple(path))

    def source(self, path: Path) -> str | None:
        """Return the text of the single value at a path; None where it is missing, or is a list or mapping."""
        places = list(self._places(path))
        if len(places) != len(path) or not places:
            return None
        line, column = places[-1][-2:]
        match = re.match(r"[^\s,\[\]{}#&*!|>'\"]+", self._lines[line][column:]) if line < len(self._lines) else None
        return match[0] if match and "$(" not in match[0] else None  # a parameter has a value of its own

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.splitlines()

    def _places(self, path: Path) -> Iterator[Sequence[int]]:
        """Yield line and column (from 0) of keys on the path and of its value (list entries: the value alone)."""
        node = self.content
        for part in path:
            places = getattr(getattr(node, "lc", None), "data", None) or {}
            if part not in places:
                return
            yield places[part]
            node = node[part]


def parse_yaml(text: str, where: str) -> Document:
    """Parse a text. Raises DefinitionError where it is not YAML, or exceeds the limits."""
    try:
        _require_bounded_text(text)
        yaml = YAML(typ="rt", pure=True)
        yaml.Constructor = _BoundedConstructor
        return Document(yaml.load(text), text, where)
    except _Unbounded as error:
        problem = Problem(f"line {error.line}", error.what, "write it plainly, with fewer levels and aliases")
    except MarkedYAMLError as error:
        problem = _problem(error)
    except RecursionError:  # By indentation: before parsing only brackets are counted
        problem = Problem("the whole file", f"nests deeper than {_MOST_LEVELS} levels", "write it with fewer levels")
    except YAMLError:  # of those that know no line, there is the reader's alone
        what, mend = "is not YAML: a character stands in it that no text has", "remove control characters"
        problem = Problem("the whole file", what, mend)
    except Exception:  # ruamel lets errors of Python through
        what, mend = "is not YAML: a value does not fit its tag", "remove tags such as `!!int`"
        problem = Problem("the whole file", what, mend)
    raise DefinitionError([problem], where=where)


def _require_bounded_text(text: str) -> None:
    """Count before parsing, because the parser takes seconds for a thousand open brackets, and for 100 KiB of text."""
    if len(text) > _MOST_CHARACTERS:
        raise _Unbounded(f"is larger than {_MOST_CHARACTERS >> 20} MiB", 1)
    open_brackets, line = 0, 1
    for match in re.finditer(r"[\[{}\]\n]", text):
        character = match[0]
        if character == "\n":
            line += 1
        else:
            open_brackets = open_brackets + 1 if character in "[{" else max(0, open_brackets - 1)
        # Brackets in texts and comments count too, so more are allowed here than levels of values
        if open_brackets > 2 * _MOST_LEVELS:
            raise _Unbounded(f"nests deeper than {_MOST_LEVELS} levels", line)


def _measure(node: Node, known: dict[int, int | None], level: int) -> int:
    """Return the number of values of a node with every alias expanded. Raises _Unbounded for too many or too deep."""
    line = node.start_mark.line + 1
    if level > _MOST_LEVELS:
        raise _Unbounded(f"nests deeper than {_MOST_LEVELS} levels", line)
    # An alias is the very node that it stands for, so each is counted once. None marks one that is being counted
    if id(node) not in known:
        known[id(node)] = None
        known[id(node)] = 1 + sum(_measure(child, known, level + 1) for child in _children(node))
    size = known[id(node)]
    if size is None:
        raise _Unbounded("an alias stands inside of what it stands for", line)
    if size > _MOST_VALUES:
        raise _Unbounded(f"its aliases stand for more than {_MOST_VALUES:,} values", line)
    return size


def _join_halves(node: ScalarNode) -> None:
    """Join the two halves in which JSON writes a character such as an emoji. Raises YAMLError for a half alone."""
    try:
        node.value = node.value.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        words = "half of a character stands here, which no file can hold"
        raise MarkedYAMLError(problem=words, problem_mark=node.start_mark) from None


def _children(node: Node) -> Iterator[Node]:
    if isinstance(node, CollectionNode):
        for entry in node.value:
            yield from entry if isinstance(entry, tuple) else (entry,)


def _problem(error: MarkedYAMLError) -> Problem:
    line = error.problem_mark.line + 1 if error.problem_mark else 1
    words = str(error.problem or error.context or "").strip()
    for pattern, what, mend in _EXPLANATIONS:
        if match := re.search(pattern, words):
            return Problem(f"line {line}", f"is not YAML: {what.format(*match.groups())}", mend.format(*match.groups()))
    return Problem(f"line {line}", f"is not YAML: {words}")


def _part(node: Any, name: str) -> int | str | None:
    """Return the target of one step of a key: a key of a mapping, or a list entry by its index, id or name."""
    if isinstance(node, dict):
        return name if name in node else None
    if isinstance(node, list):
        named = (
            index
            for index, entry in enumerate(node)
            if isinstance(entry, dict) and name in (entry.get("id"), entry.get("name"))
        )
        return next(named, int(name) if name.isdigit() and int(name) < len(node) else None)
    return None
