"""Plan a campaign: check everything that can be checked, order the cells, estimate time and cost."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from plimsoll.domain.cell import Cell, awaited_cells
from plimsoll.domain.cost import Tariff
from plimsoll.domain.definition import Definition
from plimsoll.domain.errors import Problem, ProviderError, Refused, StoreError
from plimsoll.domain.load_summary import CPU_LIMIT
from plimsoll.domain.parts import Part, parts
from plimsoll.domain.plurals import plural
from plimsoll.domain.spelling import meant_or_known
from plimsoll.domain.strategy import keeps_data
from plimsoll.domain.units import format_duration, format_rate, format_size
from plimsoll.ports.database import MeasuredDatabase
from plimsoll.ports.load_generator import SamplingLoadGenerator, SplitLoadGenerator
from plimsoll.services.campaign.stage_plans import BOUNDS, Bound, StagePlan, stage_plans, total
from plimsoll.services.definitions.documents import Document
from plimsoll.services.definitions.schedules import schedule_problems
from plimsoll.services.toolkit import Toolkit
from plimsoll.strategies.estimate import Estimate
from plimsoll.strategies.matrix import running_order, stages_that_keep_data
from plimsoll.strategies.state import CellAttempts, JudgedAttempt, campaign_state


@dataclass(frozen=True)
class Plan:
    """Cells in running order, with the time and cost of running them."""

    definition: Definition
    cells: tuple[Cell, ...]
    parallel: int
    tariff: Tariff | None = None
    """None: hosts cost nothing."""

    @cached_property
    def first(self) -> tuple[Cell, ...]:
        """The cells that the strategy asks for first, while there are no results, in running order."""
        state = campaign_state(self.definition, (), CellAttempts[JudgedAttempt])
        return tuple(one.cell for one in state.to_run_now)

    @cached_property
    def estimate(self) -> Estimate:
        """The least, likely and greatest number of cells that the definition's strategies run."""
        return total(self.stages)

    @cached_property
    def stages(self) -> tuple[StagePlan, ...]:
        """The estimate of each stage; one estimate where the definition has no stages."""
        return stage_plans(self.definition)

    @property
    def usd(self) -> float | None:
        """The cost of all hosts under load, US dollars; None where no price is known.

        Provisioning and deployment come on top.
        """
        return self.usd_of(self.cell_hours)

    def usd_of(self, cell_hours: float) -> float | None:
        """The cost of that many hours of clusters under load, US dollars; None where no price is known."""
        if self.tariff is None:
            return 0.0
        hourly = self.tariff.usd_per_cluster_hour(*self._shape)
        return None if hourly is None else hourly * cell_hours

    @property
    def vcpus(self) -> int | None:
        """The number of vCPUs alive at once; None where the provider does not count them."""
        of_cluster = self.tariff.vcpus(*self._shape) if self.tariff else None
        return None if of_cluster is None else of_cluster * self.at_once

    @property
    def _shape(self) -> tuple[int, int]:
        """The numbers of nodes and load hosts of a cluster."""
        return self.definition.system.nodes, self.definition.load_generator.hosts

    @property
    def cell_hours(self) -> float:
        """Hours under load of all cells together."""
        return self.definition.load_time / timedelta(hours=1)

    def hours(self, which: Bound) -> float:
        """Hours under load for the least, likely or greatest number of cells that the strategies run."""
        return sum(stage.hours_of(getattr(stage.estimate, which)) for stage in self.stages)

    @property
    def at_once(self) -> int:
        """The greatest number of cells that run at the same time."""
        return min(self.parallel, self.estimate.at_once)

    @property
    def hosts(self) -> int:
        """The greatest number of hosts alive at once: database nodes and load hosts of the running cells."""
        return self.at_once * self.definition.cluster_size

    @property
    def host_hours(self) -> float:
        """Hours of hosts under load, over all cells. Provisioning and deployment come on top."""
        return self.cell_hours * self.definition.cluster_size

    @property
    def load_time(self) -> timedelta:
        """Time under load with `parallel` cells at a time: for a full grid the least, for a search the likely time."""
        return sum((stage.load_time(self.parallel) for stage in self.stages), timedelta(0))

    def as_json(self) -> dict[str, Any]:
        """The plan in its documented JSON form: `cells` in running order, `totals`, `cost`."""
        cells = [cell.model_dump() for cell in self.cells]
        known = [{"id": cell.id, **fields} for cell, fields in zip(self.cells, cells, strict=True)]
        awaited = [{"id": cell.id, **asdict(cell), "load_ops_s": None} for cell in awaited_cells(self.definition)]
        return {
            "definition": self.definition.name,
            "cells": known + awaited,
            **({"stages": [stage.as_json(self.definition) for stage in self.stages]} if self.definition.stages else {}),
            "totals": {
                "cells": self.definition.cells,
                **self._range(),
                "variants": len(self.definition.variants),
                "workloads": max(1, len(self.definition.workloads)),
                "loads": len({cell.load_ops_s for cell in self.cells}),
                "repeats": max(stage.repeats for stage in self.stages),
                "cell_hours": self.cell_hours,
                "host_hours": self.host_hours,
                "hosts": self.hosts,
                "parallel": self.parallel,
                "load_time_s": self.load_time.total_seconds(),
                "vcpus": self.vcpus,
            },
            "cost": {
                "usd": self.usd,
                "budget_usd": self.definition.budget,
                "tariff": self.tariff.model_dump() if self.tariff else None,
            },
        }

    def _range(self) -> dict[str, float | None]:
        """Cells, hours under load and cost of the strategy: the least, the likely, the most."""
        return {
            f"{what}_{which}": of(which)
            for what, of in (
                ("cells", lambda which: getattr(self.estimate, which)),
                ("cell_hours", self.hours),
                ("usd", lambda which: self.usd_of(self.hours(which))),
            )
            for which in BOUNDS
        }


def make_plan(definition: Definition, *, parallel: int | None = None, tariff: Tariff | None = None) -> Plan:
    """The plan of a whole campaign."""
    return Plan(definition, running_order(definition), parallel or definition.max_parallel, tariff)


def problems(toolkit: Toolkit, definition: Definition) -> Sequence[Problem]:
    """All problems that keep the campaign from running here, reported by provider, database and load generator.

    Raises SecretError where the provider can't be asked because credentials are missing.
    """
    found = (
        *_checked(toolkit.providers, "provider.name", definition.provider.name, definition),
        *_kept_hosts_problems(toolkit, definition),
        *_kept_data_problems(toolkit, definition),
        *software_problems(toolkit, definition),
        *_store_problems(toolkit),
        *_budget_problems(toolkit, definition),
    )
    return tuple(dict.fromkeys(found))


def software_problems(toolkit: Toolkit, definition: Definition) -> Sequence[Problem]:
    """Problems of the database, the load generator, their artefacts and the schedule, for any provider."""
    found = (
        *(problem for product in definition.products for problem in _database_problems(toolkit, definition, product)),
        *_generator_problems(toolkit, definition),
        *schedule_problems(definition),
    )
    return tuple(dict.fromkeys(found))  # database and load generator both report an artefact that both lack


def require_runnable(toolkit: Toolkit, definition: Definition, document: Document | None = None) -> None:
    """Raise Refused, with every problem, unless the campaign can run here. `document`: the definition's file."""
    found = problems(toolkit, definition)
    if found:
        raise Refused(document.located(found) if document else found, where=f"definition {definition.name!r}")


def remarks(toolkit: Toolkit, plan: Plan) -> Iterator[str]:
    """Remarks for a person before the campaign starts, in sentences without a full stop."""
    weeks = plan.load_time / timedelta(weeks=1)
    if weeks >= 1:
        yield (
            f"it takes at least {weeks:.1f} weeks under load, {plural(plan.parallel, 'cell')} at a time: raise "
            "`max_parallel`, or take fewer loads or repeats, unless that is meant"
        )
    for product in plan.definition.products:
        if product in toolkit.databases:
            yield from toolkit.database(product).unchecked(plan.definition)
    yield from dict.fromkeys(_counted_rows(plan))
    yield from dict.fromkeys(_time_for_populating(plan))
    yield from _shared_data(plan)
    if plan.definition.load_generator.name in toolkit.load_generators:
        generator = toolkit.load_generator(plan.definition)
        told = (limit for part in parts(plan.definition) for limit in generator.limits(part.definition))
        yield from dict.fromkeys(told)
        yield from _too_small_a_load_host(toolkit, plan)


def _too_small_a_load_host(toolkit: Toolkit, plan: Plan) -> Iterator[str]:
    """Loads that need more processors than the load hosts have, where both numbers are known."""
    highest, there = max(cell.load_ops_s for cell in plan.cells), plan.tariff.load.vcpus if plan.tariff else None
    needed = toolkit.load_generator(plan.definition).processors(highest)
    hosts = plan.definition.load_generator.hosts
    if not there or needed is None or needed < hosts * there * CPU_LIMIT:
        return
    kind = plan.tariff.load.kind if plan.tariff else "it"
    few = "one load host" if hosts == 1 else plural(hosts, "load host")
    yield (
        f"{few} will not do: {format_rate(highest)} take at least {needed:.1f} processors, as measured, and "
        f"{kind} has {there}; write `hosts: {math.floor(needed / (there * CPU_LIMIT)) + 1}` or more below "
        "load_generator, choose a larger one, or lower the loads"
    )


def new_campaign_id(definition: Definition, at: datetime) -> str:
    """A new id made of definition and time (UTC): `demo-20260131t120000`. It can be used in run ids, tags and keys."""
    return f"{definition.name}-{at:%Y%m%dt%H%M%S}"


def _database_problems(toolkit: Toolkit, definition: Definition, product: str) -> Sequence[Problem]:
    named = next((number for number, one in definition.of_product(product) if one.product), None)
    key = "system.database" if named is None else f"variants[{named}].product"
    return _checked(toolkit.databases, key, product, definition)


def _generator_problems(toolkit: Toolkit, definition: Definition) -> Iterator[Problem]:
    """Problems of each workload by itself, at the key where the definition has the workload."""
    for part in parts(definition):
        choice = part.definition.load_generator.name
        for problem in _checked(toolkit.load_generators, "load_generator.name", choice, part.definition):
            yield replace(problem, where=_place(definition, part, problem.where))
    yield from _split_problems(toolkit, definition)
    yield from _sizing_problems(toolkit, definition)


def _split_problems(toolkit: Toolkit, definition: Definition) -> Iterator[Problem]:
    choice = definition.load_generator
    generator = toolkit.load_generators.get(choice.name)
    if choice.hosts > 1 and generator is not None and not isinstance(generator, SplitLoadGenerator):
        what = f"{choice.name} can't share a load among {choice.hosts} load hosts"
        yield Problem("load_generator.hosts", what, "write `hosts: 1`, or use plimsoll-stress")


def _sizing_problems(toolkit: Toolkit, definition: Definition) -> Iterator[Problem]:
    """Problems of a `data_per_node` for which the load generator or a database can't count rows."""
    sized = [part for part in parts(definition) if part.definition.workload.data_per_node is not None]
    generator = toolkit.load_generators.get(definition.load_generator.name)
    databases = [toolkit.databases[product] for product in definition.products if product in toolkit.databases]
    for part in sized[:1]:
        where, mend = _place(definition, part, "workload.data_per_node"), "give the number of rows instead"
        if generator is not None and not isinstance(generator, SamplingLoadGenerator):
            yield Problem(where, f"{generator.name} can't count how many rows make a size", mend)
        for database in databases:
            if not isinstance(database, MeasuredDatabase):
                yield Problem(where, f"{database.name} does not tell what rows take on disk", mend)


def _counted_rows(plan: Plan) -> Iterator[str]:
    for part in parts(plan.definition):
        if (size := part.definition.workload.data_per_node) is not None:
            yield (
                f"how many rows of {part.definition.workload.name} make {format_size(size)} on each node is not known "
                "yet: the campaign's first cell counts it by a sample, and every cell populates as many"
            )


def _time_for_populating(plan: Plan) -> Iterator[str]:
    """How long populating may take, where that is declared, or where nobody knows yet how many rows there will be."""
    for part in parts(plan.definition):
        timing = part.definition.timing
        longest = format_duration(timing.longest_populating)
        if timing.populating is not None:
            yield f"populating may take {longest} in each cell, and hosts live as much longer"
        elif part.definition.workload.data_per_node is not None:
            yield f"populating may take {longest} in each cell: write `timing.populating` for more"


def _shared_data(plan: Plan) -> Iterator[str]:
    if stages_that_keep_data(plan.definition):
        yield (
            "the loads of a repeat of the ramp share their data: cells run one at a time, a repeat's loads from the "
            "lowest up, which populates, and a cell that runs again begins with fresh data"
        )


def _place(definition: Definition, part: Part, where: str) -> str:
    """The path of a part's key in the definition, such as `workloads[2].name` for `workload.name`.

    `timing` becomes `stages[1].timing`.
    """
    (stage, workload), (key, dot, rest) = part.places, re.split(r"(?<=\w)(\.|(?=\[)|$)", where, maxsplit=1)
    if key == "workload" and definition.workloads:
        return f"workloads[{workload}]{dot}{rest}"
    has_own = definition.stages and getattr(definition.stages[stage], key, None) is not None
    return f"stages[{stage}].{where}" if has_own and key != "id" else where


def _checked(adapters: Any, key: str, name: str, definition: Definition) -> Sequence[Problem]:
    if name not in adapters:
        return [Problem(key, f"there is no {name!r} here", meant_or_known(name, adapters, lead="there is"))]
    found: Sequence[Problem] = adapters[name].check(definition)
    return found


def _kept_hosts_problems(toolkit: Toolkit, definition: Definition) -> Sequence[Problem]:
    provider = toolkit.providers.get(definition.provider.name)
    if definition.cluster_scope == "cell" or provider is None or provider.keeps_hosts:
        return []
    what = f"hosts kept for a {definition.cluster_scope} are not supported by provider {provider.name} yet"
    return [Problem("cluster_scope", what, "write `cluster_scope: cell`, or use a provider that keeps hosts")]


def _kept_data_problems(toolkit: Toolkit, definition: Definition) -> Iterator[Problem]:
    """What keeps a ramp's loads from sharing their data: hosts that end with a cell, a generator that must populate."""
    sharing = [part for part in parts(definition) if keeps_data(part.definition.strategy)]
    generator = toolkit.load_generators.get(definition.load_generator.name)
    for where in dict.fromkeys(_place(definition, part, "strategy.data") for part in sharing):
        if definition.cluster_scope == "cell":
            what = "data outlive a cell only on hosts that do"
            yield Problem(where, what, "write `cluster_scope: campaign` or `cluster_scope: variant`, or `data: fresh`")
        if generator is not None and not generator.can_go_on:
            what = f"{generator.name} can't run on rows that an earlier load has left"
            yield Problem(where, what, "use plimsoll-stress, or write `data: fresh`")


def _budget_problems(toolkit: Toolkit, definition: Definition) -> Sequence[Problem]:
    try:
        tariff = toolkit.tariff(definition) if definition.budget is not None else None
    except ProviderError:  # the provider's options are wrong, which its own check reports
        return []
    if (
        tariff is None
        or tariff.usd_per_cluster_hour(definition.system.nodes, definition.load_generator.hosts) is not None
    ):
        return []
    mend = "give the prices of your instance types in the provider's options, or remove the budget"
    return [Problem("budget", f"can't be kept: {tariff.source}", mend)]


def _store_problems(toolkit: Toolkit) -> Sequence[Problem]:
    try:
        toolkit.store.check()
    except StoreError as error:
        return [Problem(f"store {error.where}", error.what, error.mend)]
    return []
