"""A campaign whose rows make a size on disk, on a database and a load generator that count."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import INSTANT, Faults, InstantLoadGenerator, InstantProduct

from plimsoll.adapters.clock import SystemClock
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.campaign.specs import LoadSpec
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.errors import DeployError
from plimsoll.ports.host import Host, Job
from plimsoll.ports.load_generator import LoadRequest, LoadStatus
from plimsoll.services.cell import actions, loading
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.toolkit import Toolkit

FIRST = AttemptKey(campaign_id="campaign", cell_id="v1-001k-r1", attempt=1)


ROW, HEAD = 250, 10_000
"""Bytes that a row takes on each node, and those of a keyspace however many rows it has."""


class Measured(InstantProduct):
    """Rows take as much as they are told to; what is written where, and what was dropped."""

    measures_rows = True

    def __init__(self, folder: Path) -> None:
        super().__init__(Faults(folder))
        self.rows: dict[str, int] = {}
        self.dropped: list[str] = []
        self.asked = 0

    def bytes_on_disk(self, nodes: Sequence[Host], keyspace: str) -> Mapping[str, int]:
        self.asked += 1
        if keyspace not in self.rows:
            raise DeployError(f"there is no keyspace {keyspace}", where="node1")
        return {node.info.name: HEAD + ROW * self.rows[keyspace] for node in nodes}

    def drop(self, nodes: Sequence[Host], keyspace: str) -> None:
        self.dropped.append(keyspace)


class Sampling(InstantLoadGenerator):
    """Writes rows into a `Measured` database; a sample takes two looks."""

    can_sample = True
    keyspace = "data"

    def __init__(self, folder: Path, product: Measured) -> None:
        super().__init__(Faults(folder))
        self._product = product
        self.samples: dict[str, int] = {}
        self.stopped: list[str] = []
        self.expires = timedelta(0)
        self.looks = 0
        self.rate: float | None = None
        self.failure = ""

    def with_rows(self, spec: LoadSpec, rows: int) -> LoadSpec:
        return replace(spec, workload=spec.workload.with_options(rows=rows))

    def start_sample(self, host: Host, request: LoadRequest, keyspace: str) -> None:
        rows = _rows(request.spec) // request.parts
        self.samples.setdefault(request.job_id, rows)
        self._product.rows[keyspace] = rows
        host.start(Job(id=request.job_id, argv=("sample",), expires=request.expires))

    def sample_status(self, host: Host, job_id: str) -> LoadStatus:
        self.looks += 1
        if self.failure:
            return LoadStatus("failed", reason=self.failure)
        return LoadStatus("running", achieved_ops_s=self.rate) if self.looks % 2 else LoadStatus("complete")

    def start(self, host: Host, request: LoadRequest) -> None:
        self._product.rows["data"] = _rows(request.spec)
        self.expires = request.expires
        super().start(host, request)

    def stop(self, host: Host, job_id: str) -> None:
        self.stopped.append(job_id)
        super().stop(host, job_id)


def _rows(spec: LoadSpec) -> int:
    return int(str((spec.workload.model_extra or {})["rows"]))


class Setting:
    """A campaign of four cells on one database that is measured."""

    def __init__(self, folder: Path, asked: str, populating: str | None = None) -> None:
        self.installation = Installation(folder)
        plain = instant_definition(variants=2, loads=2).model_dump(mode="json")
        workload = {"name": "StandardRow", "data_per_node": asked}
        timing = {**plain["timing"], "populating": populating}
        self.definition = Definition.model_validate({**plain, "workload": workload, "timing": timing})
        self.product = Measured(folder / "faults")
        self.generator = Sampling(folder / "faults", self.product)
        self.toolkit: Toolkit = replace(
            self.installation.toolkit,
            products={INSTANT: self.product},
            load_generators={INSTANT: self.generator},
            clock=Hurried(),
        )
        self.installation.open_campaign(self.definition)

    def cell(self, cell_id: str) -> AttemptContext:
        """Return an attempt at that cell whose load was started."""
        work = begin(self.toolkit, "campaign", cell_id, "test")
        for action in (actions.provision, actions.deploy, loading.start_load):
            action(work)
        return work


class Hurried(SystemClock):
    """Waits for nothing; what it is told to wait is over."""

    def __init__(self) -> None:
        self.slept_s = 0.0

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.slept_s)

    def sleep(self, seconds: float) -> None:
        """At once."""
        self.slept_s += seconds
