"""Plan a campaign: order its cells, estimate time and cost, list the downloads before its first cell."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from plimsoll.domain.campaign.campaign import Campaign, clients_of
from plimsoll.domain.campaign.cell import Cell, part_name
from plimsoll.domain.campaign.grid import awaited_cells
from plimsoll.domain.campaign.resolve import load_spec, product_spec
from plimsoll.domain.hosts.cost import Tariff
from plimsoll.domain.keys.action import Action
from plimsoll.domain.keys.trigger import Approve
from plimsoll.domain.keys.variant import Download
from plimsoll.services.toolkit import Toolkit
from plimsoll.strategies.matrix import running_order
from plimsoll.strategies.stage_plans import (
    BOUNDS,
    Estimate,
    Extent,
    StagePlan,
    rounded_hours,
    stage_plans,
    total,
    usd_at_most,
    usd_of,
)
from plimsoll.strategies.state import CellAttempts, JudgedAttempt, campaign_state


@dataclass(frozen=True)
class Plan:
    """Cells in running order, with the time and cost (US dollars; None where no price is known) of running them."""

    campaign: Campaign
    cells: tuple[Cell, ...]
    parallel: int
    tariff: Tariff | None = None
    """The price of hosts; None where hosts cost nothing."""

    @cached_property
    def first(self) -> tuple[Cell, ...]:
        """Return the cells that the strategy asks for first, while there are no results, in running order."""
        state = campaign_state(self.campaign, (), CellAttempts[JudgedAttempt])
        return tuple(cell.cell for cell in state.to_run_now)

    @cached_property
    def estimate(self) -> Estimate:
        """Return the least, likely and greatest number of cells that the definition's strategies run."""
        return total(self.stages)

    @cached_property
    def stages(self) -> tuple[StagePlan, ...]:
        """Return the estimate of each stage; one estimate where the definition has no stages."""
        return stage_plans(self.campaign)

    @property
    def usd(self) -> float | None:
        """Return the cost of all cells' hosts, US dollars; None where no price is known.

        Provisioning and deployment come on top, and populating where the definition gives it no time of its own.
        """
        return self.usd_of("all")

    def usd_of(self, extent: Extent) -> float | None:
        """Return the cost of the hosts of so many cells, US dollars: under load, and while they wait and populate.

        None where no price is known.
        """
        return usd_of(self.stages, self.tariff, lambda stage: stage.paid_hours(extent))

    @property
    def usd_of_populating(self) -> float | None:
        """Return the greatest cost of populating that is in no other figure, because the definition gives it no time.

        US dollars; None where no price is known.
        """
        return usd_of(self.stages, self.tariff, lambda stage: stage.uncounted_hours)

    @property
    def usd_at_most(self) -> float | None:
        """Return the greatest cost that is known beforehand, US dollars; None where no price is known."""
        return usd_at_most(self.stages, self.tariff)

    @property
    def vcpus(self) -> int | None:
        """Return the number of vCPUs alive at once; None where the provider does not count them."""
        shape = self.campaign.node_hosts, self.campaign.load_generator.hosts
        of_cluster = self.tariff.vcpus(*shape) if self.tariff else None
        return None if of_cluster is None else of_cluster * self.at_once

    def hours(self, extent: Extent) -> float:
        """Return hours under load of the cells that the strategies run, or of the grid."""
        return sum(stage.hours(extent) for stage in self.stages)

    def host_hours(self, extent: Extent) -> float:
        """Return hours of hosts under load of those cells. Provisioning and deployment come on top."""
        return sum(stage.host_hours(extent) for stage in self.stages)

    @property
    def ends_early(self) -> bool:
        """Tell whether loads end once they have missed."""
        return any(stage.shortest < stage.duration for stage in self.stages)

    @property
    def is_estimated(self) -> bool:
        """Tell whether outcomes decide how long the campaign takes: which cells run, or how long loads last."""
        return bool(self.campaign.chosen_by) or self.ends_early

    @property
    def at_once(self) -> int:
        """Return the greatest number of cells that run at the same time."""
        return min(self.parallel, self.estimate.at_once)

    @property
    def hosts(self) -> int:
        """Return the greatest number of hosts alive at once: database nodes and load hosts of the running cells."""
        return self.at_once * self.campaign.cluster_size

    @property
    def load_time(self) -> timedelta:
        """Return the time under load with `parallel` cells at a time: the likely time where it `is_estimated`, else the
        least.
        """
        return sum((stage.load_time(self.parallel) for stage in self.stages), timedelta(0))

    def as_json(self) -> dict[str, Any]:
        """Return the plan in its documented JSON form (docs/guides/rest.md): `cells` in running order, `totals`,
        `cost`.
        """
        cells = [cell.model_dump() for cell in self.cells]
        known = [{"id": cell.id, **fields} for cell, fields in zip(self.cells, cells, strict=True)]
        awaited = [
            {"id": cell.id, **cell.model_dump(exclude={"load_ops_s"}), "load_ops_s": None}
            for cell in awaited_cells(self.campaign)
        ]
        actions = {part.id: part.action for part in self.campaign.parts}
        return {
            "definition": self.campaign.name,
            **({"parameters": values} if (values := self.campaign.values) else {}),
            **({"published": published.model_dump()} if (published := self.campaign.published) else {}),
            **(
                {"clients": [asdict(client) for client in clients]}
                if (clients := clients_of(self.campaign.parts))
                else {}
            ),
            "cells": [_with_action(cell, actions) for cell in known + awaited],
            **({"stages": [stage.as_json() for stage in self.stages]} if self.campaign.stages[0].id else {}),
            "totals": {
                "cells": self.campaign.cells,
                **self._range(),
                "variants": len(self.campaign.variants),
                "workloads": max(1, len(self.campaign.workload_ids)),
                "loads": len({cell.load_ops_s for cell in self.cells}),
                "repeats": max(stage.first.repeats for stage in self.campaign.stages),
                "cell_hours": rounded_hours(self.hours("all")),
                "host_hours": rounded_hours(self.host_hours("all")),
                "hosts": self.hosts,
                "parallel": self.parallel,
                "at_once": self.at_once,
                "tries_if_disturbed": self.campaign.disturbance.tries,
                "load_time_s": self.load_time.total_seconds(),
                "vcpus": self.vcpus,
            },
            "cost": {
                "usd": _cents(self.usd),
                "usd_likely": _cents(self.usd_of("likely")),
                "usd_of_populating": _cents(self.usd_of_populating),
                "budget_usd": self.campaign.budget,
                **({"at_most": ceiling.model_dump(mode="json")} if (ceiling := self.campaign.at_most) else {}),
                **({"approval": self._approval(rule)} if (rule := self.campaign.approve) else {}),
                "tariff": self.tariff.model_dump() if self.tariff else None,
            },
        }

    def _approval(self, rule: Approve) -> dict[str, Any]:
        usd = self.usd_at_most
        return {"above_usd": rule.above, "usd_at_most": _cents(usd), "is_needed": rule.is_needed_for(usd)}

    def _range(self) -> dict[str, float | None]:
        """Return cells, hours under load and cost of the strategy: the least, the likely, the most."""
        return {
            f"{figure}_{bound}": value_of(bound)
            for figure, value_of in (
                ("cells", lambda extent: getattr(self.estimate, extent)),
                ("cell_hours", lambda extent: rounded_hours(self.hours(extent))),
                ("usd", lambda extent: _cents(self.usd_of(extent))),
            )
            for bound in BOUNDS
        }


def _cents(usd: float | None) -> float | None:
    return None if usd is None else round(usd, 2)


def make_plan(campaign: Campaign, *, parallel: int | None = None, tariff: Tariff | None = None) -> Plan:
    return Plan(campaign, running_order(campaign), parallel or campaign.max_parallel, tariff)


def new_campaign_id(name: str, at: datetime) -> str:
    """Return a new id made of the definition's name and the time (UTC): `demo-20260131t120000`.

    It can be used in run ids, tags and keys.
    """
    return f"{name}-{at:%Y%m%dt%H%M%S}"


def is_new_id(name: str, campaign_id: str) -> bool:
    """Tell whether the id was made so. Of one definition, such ids are in the order of their times."""
    return re.fullmatch(rf"{name}-\d{{8}}t\d{{6}}", campaign_id) is not None


def _with_action(cell: Mapping[str, Any], actions: Mapping[str, Action | None]) -> dict[str, Any]:
    """Return the cell with the action that is done while its load runs, if any. `actions`: by the name of a part."""
    action = actions[part_name(cell.get("stage", ""), cell.get("workload", ""))]
    return {**cell, **({"action": action.model_dump(mode="json")} if action else {})}


def downloads(toolkit: Toolkit, campaign: Campaign) -> tuple[Download, ...]:
    """Return the software that `prepare` downloads for this campaign, each once; what is here already is marked."""
    products = [name for name in campaign.products if name in toolkit.products]
    needed = [item for name in products for item in toolkit.product(name).downloads(product_spec(campaign, name))]
    if campaign.load_generator.name in toolkit.load_generators:
        needed += toolkit.load_generator(campaign).downloads(load_spec(campaign.parts[0]))
    return tuple({item.name: item for item in needed}.values())


def fetch(toolkit: Toolkit, campaign: Campaign) -> None:
    """Download and build the software of the campaign, as far as it is not here. Raises PlimsollError."""
    for product in campaign.products:
        toolkit.product(product).prepare(product_spec(campaign, product))
    toolkit.load_generator(campaign).prepare(load_spec(campaign.parts[0]))


def known_bytes(found: Sequence[Download]) -> int:
    """Return the size of all these downloads together, bytes, as far as it is known before."""
    return sum(download.size_bytes or 0 for download in found)


def download_lines(found: Sequence[Download]) -> Iterator[str]:
    """Yield sentences on what is still to be downloaded, with sizes, and on what is here; none where nothing is
    needed.
    """
    there = [download for download in found if download.is_there]
    wanted = [download for download in found if not download.is_there]
    if wanted:
        known = known_bytes(wanted)
        at_least = "at least " if any(download.size_bytes is None for download in wanted) else ""
        yield f"To download before the first cell, {at_least}{known / 1_000_000:,.0f} MB: {', '.join(map(str, wanted))}"
    if there:
        yield f"Downloaded already: {', '.join(download.name for download in there)}"
