"""What a definition may ask of the local provider, and what this machine can give."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import psutil
from pydantic import Field, ValidationError

from plimsoll.adapters.local.files import mend
from plimsoll.domain.base import Model
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem
from plimsoll.domain.units import Size, parse_size

_GIB = 1 << 30


class LocalOptions(Model):
    """`provider.options` of a definition whose provider is `local`."""

    memory_beside_heap: Annotated[Size, Field(description="Memory of a node's JVM beyond its heap")] = 384 << 20
    disk_per_node: Annotated[Size, Field(description="Disk that a node fills at most")] = 1 << 30


def check_machine(definition: Definition, work: Path) -> Sequence[Problem]:
    """Why this machine can't hold the definition's clusters; empty when it can."""
    try:
        options = LocalOptions.model_validate(definition.provider.options)
    except ValidationError as error:
        return [_option_problem(fault["loc"], fault["msg"]) for fault in error.errors()]
    return [*_heaps(definition), *_memory(definition, options), *_folder(work), *_disk(definition, options, work)]


def _option_problem(location: Sequence[object], message: str) -> Problem:
    key = ".".join(("provider.options", *(str(part) for part in location)))
    return Problem(key, message, f"allowed: {', '.join(LocalOptions.model_fields)}")


def _heaps(definition: Definition) -> Iterator[Problem]:
    total = psutil.virtual_memory().total
    for place, variant in enumerate(definition.variants):
        if variant.jvm.heap > total:
            yield Problem(
                f"variants.{place}.jvm.heap",
                f"{_gib(variant.jvm.heap)} for variant {variant.id!r} is larger than this machine's {_gib(total)}",
                "choose a smaller heap, or a provider with larger hosts",
            )


def _memory(definition: Definition, options: LocalOptions) -> Iterator[Problem]:
    heap = max(variant.jvm.heap for variant in definition.variants)
    generator = parse_size(definition.load_generator.heap) + options.memory_beside_heap
    cell = definition.system.nodes * (heap + options.memory_beside_heap) + generator
    needed, available = cell * definition.max_parallel, psutil.virtual_memory().available
    if needed > available:
        yield Problem(
            "max_parallel",
            f"{definition.max_parallel} cells at a time need {_gib(needed)} of memory, {_gib(available)} are available",
            "make heaps smaller, run fewer cells at a time, or free memory",
        )


def _folder(work: Path) -> Iterator[Problem]:
    probe = work / ".plimsoll-check"
    try:
        work.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        yield Problem(f"PLIMSOLL_WORK {work}", f"can't be written: {error.strerror}", mend(error, work))


def _disk(definition: Definition, options: LocalOptions, work: Path) -> Iterator[Problem]:
    there = next(parent for parent in (work, *work.parents) if parent.exists())
    needed = options.disk_per_node * definition.system.nodes * definition.max_parallel
    free = shutil.disk_usage(there).free
    if needed > free:
        what = f"clusters need {_gib(needed)} of disk, {_gib(free)} are free"
        yield Problem(f"PLIMSOLL_WORK {work}", what, "free disk space, or set PLIMSOLL_WORK to another folder")


def _gib(size: int) -> str:
    return f"{size / _GIB:.1f} GiB"
