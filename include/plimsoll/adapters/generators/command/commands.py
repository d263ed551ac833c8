"""Commands of a definition: the values of their placeholders, and their faults before anything starts. How several load
hosts share the load: their parts of the rate, and the wait for a common start.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from inspect import getsource
from pathlib import PurePosixPath

from plimsoll.adapters.external.endpoint_options import OF_ENDPOINT, OWN
from plimsoll.adapters.generators.command import starter
from plimsoll.adapters.generators.command.watcher import ERRORS, ERRORS_S, FIGURES, RATE, STOPPED, percentile_of
from plimsoll.adapters.generators.command.watching import WATCH, WATCHER
from plimsoll.adapters.generators.foreign_load import CONSOLE, END, LEASE, LOAD, POPULATE, RECORDS, Command, Load, run_s
from plimsoll.adapters.generators.workload_options import length_problems
from plimsoll.adapters.hosts.base import PYTHON
from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.keys.system import LoadCommand, placeholders, values_of
from plimsoll.domain.keys.variant import is_inside
from plimsoll.domain.keys.workload import Workload
from plimsoll.domain.text.errors import Problem
from plimsoll.domain.text.units import parse_count
from plimsoll.domain.text.wording import meant_or_known
from plimsoll.ports.artefacts import ProgramSource, how_to_fetch
from plimsoll.ports.load_generator import LoadRequest

WAIT = "start"
"""The name of the command that waits for the start."""
START, STARTER = "start.json", "starter.py"
_PART = "part"
OF_HOSTS = {"archive": "folder of the unpacked archive", "java_home": "folder of Plimsoll's JDK 11"}
OF_LOADS = {
    "rate": "the load, in ops/s, or this load host's share",
    "duration": "length of the timed run, warm-up included, in s, and some seconds more",
    "warmup": "length of the warm-up, in s",
    "contact_points": "addresses of the nodes, with commas",
    "contact_point": "address of one node",
    "outputs": "folder of the load's files, in which the commands run",
    "seed": "a number of 31 bits for what is drawn at random: another one in each repeat and attempt",
    _PART: "number of the load host, from 1",
    "parts": "how many load hosts share the load",
    "threads": "`load_generator.threads`",
    "concurrency": "`load_generator.concurrency`",
    "heap": "`load_generator.heap`",
    **OF_HOSTS,
}
"""Name → meaning; those of hosts are known before any load. Further names: `workload`, and the options of the
definition's workload, such as `rows`.
"""

_WHERE = "load_generator.command"
_EXAMPLE = "write `command: {run: my-generator --rate {rate} --seconds {duration}, outputs: ['*.hdr']}`"
_OF_WAIT = (START, STARTER, *(f"{WAIT}.{end}" for end in ("console", "begun", "times", "end", "end.part")))
_OF_WATCH = (*(WATCH.format(command) for command in (POPULATE, LOAD)), FIGURES, STOPPED, END, WATCHER, LEASE)
OWN_FILES = (*RECORDS, *_OF_WATCH, *_OF_WAIT)
"""The names of files that belong to the job, beside those that programs write."""
_WITHOUT = {
    "rate": "; a program that can't keep a rate runs elsewhere, and its files come in by `plimsoll import`, with the "
    "rates that it reached as loads",
    "duration": "",
}
"""Each placeholder that a command needs → how the advice goes on where the command lacks it."""


def options_of(workload: Workload) -> dict[str, str]:
    """Return the workload's name, and its options that are texts or numbers, as they are written."""
    return values_of({"workload": workload.name, **workload.model_dump(mode="json", exclude={"name"})})


def of_workload(workload: Workload) -> dict[str, str]:
    """Return the same with `rows` as a whole number. Raises ValueError where `rows` is no count."""
    options = options_of(workload)
    return {**options, "rows": str(parse_count(options["rows"]))} if "rows" in options else options


def of_load(request: LoadRequest, folder: PurePosixPath, folders: Mapping[str, PurePosixPath]) -> dict[str, str]:
    """Return every placeholder's value for a load; `folders`: those of archive and JDK, where a command names them."""
    values = {
        **known_values(request.spec, folders),
        "rate": str(request.own_ops_s),
        "contact_points": ",".join(request.contact_points),
        "contact_point": request.contact_points[0],
        "outputs": str(folder),
        "seed": str((request.seed + request.part - 1) % 2**31 or 1),  # no other host of the load has it
        _PART: str(request.part),
        "parts": str(request.parts),
    }
    if database := request.database:
        values["contact_point"] = database.contact_points[0]
        values["port"] = str(database.port)
        values["addresses"] = ",".join(database.addresses)
        values[OWN] = request.own
    return values


def populates(request: LoadRequest, command: LoadCommand) -> bool:
    """Tell whether that host populates: the first, or all where the command knows whose part it writes."""
    return bool(command.populate) and (request.part == 1 or _PART in placeholders(command.populate or ""))


def waiting(load: Load, request: LoadRequest) -> Load:
    """Return the load with a wait before its timed run, where it has to wait."""
    if request.parts == 1 and not request.waits:
        return load
    *earlier, timed = load.commands
    wait = Command(WAIT, (*PYTHON, STARTER, START))
    return replace(load, commands=[*earlier, wait, timed], files={**load.files, STARTER: getsource(starter)})


def known_values(spec: LoadSpec, folders: Mapping[str, PurePosixPath]) -> dict[str, str]:
    """Return the values that are the same for all loads of a definition."""
    generator = spec.load_generator
    return {
        **of_workload(spec.workload),
        "duration": str(run_s(spec)),
        "warmup": f"{spec.timing.warmup.total_seconds():g}",
        "threads": str(generator.threads),
        "concurrency": str(generator.concurrency),
        "heap": generator.heap,
        **{name: str(path) for name, path in folders.items()},
    }


def problems(spec: LoadSpec, artefacts: ProgramSource) -> Sequence[Problem]:
    """Return all problems at once. Fetches nothing."""
    command = spec.load_generator.command
    if command is None:
        return [Problem(_WHERE, "is missing: the load generator `command` is what it says", _EXAMPLE)]
    return [
        *_workload(spec),
        *_placeholders(spec, command),
        *_progress(command),
        *_outputs(command),
        *_archive(spec, command, artefacts),
        *length_problems(spec),
    ]


def _workload(spec: LoadSpec) -> Iterator[Problem]:
    for name in OF_LOADS.keys() & (spec.workload.model_extra or {}).keys():
        yield Problem(f"workload.{name}", f"{{{name}}} is {OF_LOADS[name]}", "give the option another name")
    if "name" not in spec.workload.model_fields_set:
        yield Problem("workload.name", "is missing: only the command knows its workload", "name it as reports shall")
    try:
        of_workload(spec.workload)
    except ValueError as error:
        yield Problem("workload.rows", str(error), "write a count such as 200000 or 100k")


def _placeholders(spec: LoadSpec, command: LoadCommand) -> Iterator[Problem]:
    of_endpoint = [name for name in OF_ENDPOINT if name not in OF_LOADS] if spec.owns != "cluster" else []
    of_load = [*OF_LOADS, *of_endpoint, *options_of(spec.workload)]
    for key, known in {"populate": of_load, "run": of_load, "version": [*OF_HOSTS]}.items():
        for name in placeholders(getattr(command, key) or ""):
            if name not in known:
                yield Problem(f"{_WHERE}.{key}", f"{{{name}}} stands for nothing", meant_or_known(name, known))
            elif name == "archive" and command.archive is None:
                yield Problem(f"{_WHERE}.{key}", "{archive} stands for nothing", "give `archive: {url: …, sha256: …}`")
    for name, further in _WITHOUT.items():
        if name not in placeholders(command.run):
            what = f"has no {{{name}}}, which is {OF_LOADS[name]}: every cell would run alike"
            yield Problem(f"{_WHERE}.run", what, f"write {{{name}}} where the program takes it{further}")


def _progress(command: LoadCommand) -> Iterator[Problem]:
    try:
        named = re.compile(command.progress or "").groupindex
    except re.error as error:
        yield Problem(f"{_WHERE}.progress", f"is no regular expression: {error}", "write one, or leave it out")
        return
    known = f"write {RATE}, {ERRORS} or {ERRORS_S}, or a percentile with its unit, such as p99_ms or p99_9_us"
    for name in named:
        if name not in (RATE, ERRORS, ERRORS_S) and percentile_of(name) is None:
            yield Problem(f"{_WHERE}.progress", f"its group {name!r} stands for nothing", known)
    if named and RATE not in named:
        what = f"has named groups, and none is {RATE!r}, the operations per s"
        yield Problem(f"{_WHERE}.progress", what, f"name it: `tps: (?P<{RATE}>[0-9.]+)`")


def _outputs(command: LoadCommand) -> Iterator[Problem]:
    for number, name in enumerate(command.outputs):
        where = f"{_WHERE}.outputs[{number}]"
        if not name.strip():
            yield Problem(where, "is empty, and no file is named so", "write the file's name, such as '*.hdr'")
        elif "/" in name or "{" in name:
            mend = f"write the file's own name, such as {name.rpartition('/')[2] or '*.hdr'!r}"
            yield Problem(where, f"{name!r} is a path, and files are known by their names alone", mend)
        elif own := next((file for file in OWN_FILES if fnmatchcase(file, name)), ""):
            mend = f"write a name that only the program's files have; {CONSOLE} is what it prints"
            yield Problem(where, f"{name!r} is also the name of {own}, which Plimsoll writes", mend)


def _archive(spec: LoadSpec, command: LoadCommand, artefacts: ProgramSource) -> Iterator[Problem]:
    if command.archive is None:
        return
    program = program_in_archive(command)
    if not program:
        what = "is used by no command"
        yield Problem(f"{_WHERE}.archive", what, "begin a path of `run` with {archive}/, or leave the archive out")
    elif not is_inside(program):
        what = f"{program!r} is no path in it"
        yield Problem(f"{_WHERE}.archive", what, "write a path below {archive}/, without `..` and `**`")
    if not artefacts.has_archive(command.archive):
        what = "the load generator's archive is not in the cache"
        yield Problem(f"{_WHERE}.archive", what, how_to_fetch(spec.name))


def program_in_archive(command: LoadCommand) -> str:
    """Return the first path in the archive that a command names, such as `bin/tlp-stress`; empty if none does."""
    match = re.search(r"\{archive\}/([^\s'\":]+)", f"{command.run} {command.populate or ''}")
    return match[1] if match else ""
