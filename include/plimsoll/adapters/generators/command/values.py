"""The values that stand for the placeholders of a definition's commands. Pure, but for what a host must have."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from pydantic import JsonValue

from plimsoll.adapters.generators.foreign_load.generator import run_s
from plimsoll.domain.load_spec import LoadSpec
from plimsoll.domain.units import parse_count
from plimsoll.domain.workload import Workload
from plimsoll.ports.load_generator import LoadRequest

OF_HOSTS = {"archive": "folder of the unpacked archive", "java_home": "folder of Plimsoll's JDK 11"}
OF_LOADS = {
    "rate": "the load, in ops/s",
    "duration": "length of the timed run, warm-up included, in s, and some seconds more",
    "warmup": "length of the warm-up, in s",
    "contact_points": "addresses of the nodes, with commas",
    "contact_point": "address of one node",
    "outputs": "folder of the load's files, in which the commands run",
    "seed": "a number of 31 bits for what is drawn at random: another one in each repeat and attempt",
    "threads": "`load_generator.threads`",
    "concurrency": "`load_generator.concurrency`",
    "heap": "`load_generator.heap`",
    **OF_HOSTS,
}
"""Name → meaning; those of hosts are known before any load. Further names: `workload`, and the options of the
definition's workload, such as `rows`.
"""


def options_of(workload: Workload) -> dict[str, str]:
    """Return the workload's name, and its options that are texts or numbers, as they are written."""
    options = {"workload": workload.name, **workload.model_dump(mode="json", exclude={"name"})}
    return {name: _text(value) for name, value in options.items() if isinstance(value, str | int | float)}


def of_workload(workload: Workload) -> dict[str, str]:
    """Return the same with `rows` as a whole number. Raises ValueError where `rows` is no count."""
    options = options_of(workload)
    return {**options, "rows": str(parse_count(options["rows"]))} if "rows" in options else options


def of_load(request: LoadRequest, folder: PurePosixPath, folders: Mapping[str, PurePosixPath]) -> dict[str, str]:
    """Return every placeholder's value for a load; `folders`: those of archive and JDK, where a command names them."""
    return {
        **known_values(request.spec, folders),
        "rate": str(request.load_ops_s),
        "contact_points": ",".join(request.contact_points),
        "contact_point": request.contact_points[0],
        "outputs": str(folder),
        "seed": str(request.seed),
    }


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


def _text(value: JsonValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
