"""The YAML file that describes an import: a definition, each cell's files, and known facts of the environment."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from plimsoll.analysis.logs.hdr.histograms import Unit
from plimsoll.domain.campaign.cell import CAMPAIGN_ID, Cell
from plimsoll.domain.campaign.grid import cells_by_id
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.fingerprint import ENVIRONMENT_FACTS
from plimsoll.domain.keys.faults import Fault, Path, require_none
from plimsoll.domain.keys.log_words import ColumnPairs
from plimsoll.domain.keys.system import IMPORTED
from plimsoll.domain.keys.workload import Workload
from plimsoll.domain.text.base import LeftOutIfEmpty, Model
from plimsoll.domain.text.units import Rate
from plimsoll.domain.text.wording import meant
from plimsoll.services.definitions.documents import parse_yaml

_LOADER = "{loader}"
_CLAIMS = ("system", "workload", "load_generator")
"""Parts of a definition whose defaults would claim something of a run that somebody else made."""


class ImportedRun(Model):
    """The files of one cell."""

    stage: Annotated[str, Field(description="Of a definition with several stages")] = ""
    variant: str
    workload: Annotated[str, Field(description="Of a definition with several workloads")] = ""
    load: Rate
    repeat: Annotated[int, Field(ge=1)] = 1
    files: Annotated[tuple[str, ...], Field(min_length=1, description="Paths or patterns, from this file's folder")]
    unit: Annotated[Unit | None, Field(description="Of this run's values, where it is not that of the other runs")] = (
        None
    )
    environment: Annotated[dict[str, str], Field(description="Facts of this run alone")] = {}

    @property
    def cell(self) -> Cell:
        own = self.model_dump(include={"stage", "variant", "workload", "repeat"})
        return Cell(**own, load_ops_s=self.load)


class ImportDescription(Model):
    """Runs to import as one campaign. `files` are patterns for all cells; `runs` name single cells."""

    campaign: Annotated[str, Field(pattern=CAMPAIGN_ID, max_length=100, description="Id of the campaign to make")]
    source: Annotated[str, Field(min_length=1, description="Who published the data, and where")]
    licence: Annotated[str, Field(description="Under which the data may be used")] = ""
    definition: Definition
    files: Annotated[
        tuple[str, ...],
        Field(
            description="Patterns with {stage}, {variant}, {workload}, {load} (ops/s), {load_k} (thousands), {repeat}, "
            "{cell}"
        ),
    ] = ()
    loaders: Annotated[
        LeftOutIfEmpty[tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)], ...]],
        Field(max_length=100, description="Load generators that shared each load: values of {loader} in `files`"),
    ] = ()
    runs: tuple[ImportedRun, ...] = ()
    format: Annotated[str | None, Field(description="Of the files; by default told by their content")] = None
    unit: Annotated[Unit | None, Field(description="Of histograms' values; by default what their writer writes")] = None
    tags: Annotated[tuple[str, ...], Field(description="Of logs with tags, those to judge; by default all")] = ()
    columns: Annotated[ColumnPairs, Field(description="Of logs of operations, what each column holds")] = {}
    operations: Annotated[
        dict[str, Literal["reads", "writes"]], Field(description="Further operations' names → reads or writes")
    ] = {}
    environment: Annotated[dict[str, str], Field(description="Facts of all runs: kernel, CPU, instance type …")] = {}

    @model_validator(mode="before")
    @classmethod
    def _can_not_run(cls, content: Any) -> Any:
        """Give the definition a provider that can't run anything, before it is judged what is wrong with it."""
        if isinstance(content, Mapping) and isinstance(content.get("definition"), Mapping):
            return {**content, "definition": {**content["definition"], "provider": {"name": IMPORTED}}}
        return content

    @model_validator(mode="after")
    def _names_cells_of_the_definition(self) -> Self:
        require_none(self._faults())
        return self

    def _faults(self) -> Iterator[Fault]:
        taken = [(number, stage.taken) for number, stage in enumerate(self.definition.stages) if stage.taken]
        for number, rule in taken:
            what = f"is the load {rule}: an import takes runs as they were made, at loads that are known"
            mend = "write the rates at which the runs of this stage were made, as a list"
            yield Fault(("definition", "stages", number, "loads"), what, mend)
        if taken:
            return
        cells, named = cells_by_id(resolve(self.definition)), [run.cell.id for run in self.runs]
        if not self.files and not self.runs:
            yield Fault((), "neither `files` nor `runs` say which files to import", "see docs/guides/importing.md")
        yield from self._loaders_told_apart()
        for number, run in enumerate(self.runs):
            if run.cell.id not in cells:
                yield Fault(("runs", number), f"the definition has no cell {run.cell.id}", meant(run.cell.id, cells))
            if named.index(run.cell.id) < number:
                what = f"cell {run.cell.id} stands {named.count(run.cell.id)} times among the runs"
                yield Fault(("runs", number), what, "put all of its files into one run")

    def _loaders_told_apart(self) -> Iterator[Fault]:
        if len(set(self.loaders)) != len(self.loaders) or len(self.loaders) == 1:
            yield Fault(("loaders",), "is not a list of several names", "write each once, or leave it out")
        everywhere: list[tuple[Path, str]] = [(("files", number), text) for number, text in enumerate(self.files)]
        everywhere += [
            (("runs", index, "files", number), text)
            for index, run in enumerate(self.runs)
            for number, text in enumerate(run.files)
        ]
        for path, pattern in everywhere:
            if (_LOADER in pattern) != bool(self.loaders):
                what = "has no {loader} beside `loaders`" if self.loaders else "has {loader} without `loaders`"
                yield Fault(path, what, "write {loader} where the files of each are told apart, and `loaders: [a, b]`")


@dataclass(frozen=True)
class DescribedRun:
    """A cell and the patterns of its files. `required`: the description names this cell, so its files must exist."""

    cell: Cell
    patterns: tuple[str, ...]
    environment: Mapping[str, str]
    unit: Unit | None
    required: bool


def parse_description(text: str, where: str) -> ImportDescription:
    """Parse the description in a YAML text. Raises DefinitionError with every fault: key, line, allowed values."""
    return parse_yaml(text, where).model(ImportDescription)


def described_runs(description: ImportDescription) -> tuple[DescribedRun, ...]:
    """Return every cell of the definition with its patterns. The patterns in `runs` go before the general ones."""
    named = {run.cell: run for run in description.runs}
    return tuple(
        DescribedRun(
            cell=cell,
            patterns=named[cell].files if cell in named else tuple(_filled(file, cell) for file in description.files),
            environment={**description.environment, **(named[cell].environment if cell in named else {})},
            unit=(named[cell].unit if cell in named else None) or description.unit,
            required=cell in named,
        )
        for cell in cells_by_id(resolve(description.definition)).values()
        if cell in named or description.files
    )


def unknown_facts(definition: Definition, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return facts of the environment that nobody gave, and keys of the definition with only a default value."""
    missing = [fact for fact in ENVIRONMENT_FACTS if fact not in environment]
    return (*missing, *(f"definition: {key}" for key in _defaulted(definition)))


def _defaulted(definition: Definition) -> Iterator[str]:
    for section in [name for name in _CLAIMS if name != "workload" or not definition.workloads]:
        model = getattr(definition, section)
        stated = model.model_fields_set if section in definition.model_fields_set else set()
        # Nobody can state options of a protocol that the clients do not speak.
        left_out = {"settings", *stated, *Workload.foreign_options(resolve(definition).protocols)}
        yield from (f"{section}.{name}" for name in type(model).model_fields if name not in left_out)


def with_loader(patterns: Iterable[str], name: str) -> tuple[str, ...]:
    return tuple(pattern.replace(_LOADER, name) for pattern in patterns)


def _filled(pattern: str, cell: Cell) -> str:
    values = {
        "stage": cell.stage,
        "variant": cell.variant,
        "workload": cell.workload,
        "load": cell.load_ops_s,
        "load_k": f"{cell.load_ops_s / 1000:g}",
        "repeat": cell.repeat,
        "cell": cell.id,
    }
    for name, value in values.items():
        pattern = pattern.replace(f"{{{name}}}", str(value))
    return pattern
