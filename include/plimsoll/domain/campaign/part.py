"""A part of a campaign: one workload in one stage, flat and complete. Pure."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal, TypeVar

from pydantic import JsonValue

from plimsoll.domain.campaign.cell import part_name
from plimsoll.domain.keys.action import Action
from plimsoll.domain.keys.definition_keys import Published
from plimsoll.domain.keys.faults import Fault, Path
from plimsoll.domain.keys.host_bounds import Canary, Disturbance
from plimsoll.domain.keys.loads import CLOSED, NO_LOAD, Loop, TakenLoad
from plimsoll.domain.keys.parameters import Parameter, Values
from plimsoll.domain.keys.service_level import RateBelow, ServiceLevel
from plimsoll.domain.keys.strategy import Ramp, StageLoad, StageStart, Strategy, Threshold, chooses_cells, most_cells
from plimsoll.domain.keys.system import IMPORTED, NOT_KNOWN, LoadGeneratorChoice, ProviderChoice, System
from plimsoll.domain.keys.timing import AtMost, StopRule, Timing
from plimsoll.domain.keys.trigger import Approve, Trigger
from plimsoll.domain.keys.variant import Variant
from plimsoll.domain.keys.workload import KNOWN_PRODUCTS, OPTIONS, OWN, UNKNOWN, Workload, protocol_of
from plimsoll.prefix import dag_id_of

Knowledge = Literal["load", "rate", "nodes"]
"""What can be known of a cell. `load`: how operations fared, since a load is put on; `rate`: whether it was sent in
time, since every operation is due at a time of its own; `nodes`: the database's processes and logs, and its hosts.
"""
_Own = TypeVar("_Own")
Question = Literal["capacity", "at a load", "an action"]
"""What a part asks: how much load is carried, what happens at a load, or how long something takes without any."""


def run_command(name: str, campaign_id: str) -> str:
    """Return the command that goes on with a campaign, for a definition of which only the name is known here."""
    return f"`plimsoll run {name} --campaign {campaign_id}`, with the file's path for {name!r} where it lies elsewhere"


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What all parts of a campaign have alike. Each field is the definition's key of that name."""

    name: str
    title: str
    parameters: Mapping[str, Parameter]
    system: System
    variants: tuple[Variant, ...]
    control: str | None
    seed: int
    load_generator: LoadGeneratorChoice
    rate: Literal["achieved"] | None
    rates_below: tuple[RateBelow, ...]
    stop_when: tuple[StopRule, ...]
    provider: ProviderChoice
    canary: Canary | None
    disturbance: Disturbance
    wait_for_calm: timedelta | None
    cluster_scope: Literal["cell", "variant", "campaign"]
    max_parallel: int
    budget: float | None
    at_most: AtMost | None
    finish_by: timedelta | datetime | None
    approve: Approve | None
    published: Published | None
    trigger: Trigger | None

    @property
    def dag_id(self) -> str:
        return dag_id_of(self.name)

    @property
    def values(self) -> Values:
        return {name: parameter.effective for name, parameter in self.parameters.items()}

    @property
    def own_values(self) -> Values:
        """Return the values of parameters that are not their defaults."""
        return {name: value for name, value in self.values.items() if value != self.parameters[name].default}

    @property
    def in_commands(self) -> str:
        """Return the name and own values as words of a command line: `release --set version=5.0.9`."""
        options = [f"--set {shlex.quote(f'{name}={value}')}" for name, value in self.own_values.items()]
        return " ".join([self.name, *options])

    @property
    def money(self) -> tuple[str, float | None]:
        """Return the key of the least amount that the campaign may cost, and that amount, USD; None without a limit."""
        ceiling = self.at_most.cost if self.at_most else None
        if ceiling is not None and (self.budget is None or ceiling < self.budget):
            return "at_most.cost", ceiling
        return "budget", self.budget

    def variant(self, variant_id: str) -> Variant:
        """Return the variant with that id. Raises KeyError when there is no such variant."""
        return {variant.id: variant for variant in self.variants}[variant_id]

    def product_of(self, variant: Variant) -> str:
        return variant.product or self.system.database

    def protocol_of(self, variant: Variant) -> str:
        if self.provider.is_endpoint:
            return OWN
        product = self.product_of(variant)
        is_stated = self.provider.name != IMPORTED or product in KNOWN_PRODUCTS
        return protocol_of(product) if is_stated else UNKNOWN

    @property
    def protocols(self) -> tuple[str, ...]:
        """Return the protocols that clients of all variants speak, each once, in the variants' order."""
        return tuple(dict.fromkeys(map(self.protocol_of, self.variants)))

    def version_of(self, variant: Variant) -> str:
        """Return the database release that a variant runs; `NOT_KNOWN` where nobody said it.

        A valid definition says it for every variant, except where somebody else runs the cluster.
        """
        own = variant.version or (self.system.version if self.product_of(variant) == self.system.database else None)
        return own or NOT_KNOWN

    def settings_of(self, variant: Variant) -> dict[str, JsonValue]:
        """Return the settings that a variant's database gets in addition to the adapter's defaults."""
        return {**self.settings_of_system(self.product_of(variant)), **variant.settings}

    def settings_of_system(self, product: str) -> dict[str, JsonValue]:
        """Return the system's settings, which hold for every variant of the system's product; empty for others."""
        return self.system.settings if product == self.system.database else {}

    @property
    def products(self) -> tuple[str, ...]:
        """Return the databases of all variants, each once, in the variants' order."""
        return tuple(dict.fromkeys(map(self.product_of, self.variants)))

    def of_product(self, product: str) -> tuple[tuple[int, Variant], ...]:
        """Return the variants that run that database, each with its index among all variants."""
        return tuple((n, variant) for n, variant in enumerate(self.variants) if self.product_of(variant) == product)

    def key_of_product(self, product: str) -> str:
        """Return the key that names that database: the system's, or that of the first variant that names it itself."""
        named = (n for n, variant in self.of_product(product) if variant.product)
        return next((f"variants[{n}].product" for n in named), "system.database")


@dataclass(frozen=True, kw_only=True)
class Part(Setup):
    """One workload in one stage of a campaign. It is judged, searched and reported like a campaign of its own.

    `stage` and `workload_id` are the ids in ids of cells: empty where the campaign has only one of them. `places`: the
    indices of stage and workload in the definition, from 0. `loads`: those of all variants, ops/s, in the definition's
    order; empty while they are not known.
    """

    stage: str = ""
    workload_id: str = ""
    places: tuple[int, int] = (0, 0)
    own_keys: frozenset[str] = frozenset()
    """The keys that stand in its stage and not at the top, and `workload` where that is one of the `workloads`."""
    stage_title: str = ""
    workload: Workload
    strategy: Strategy
    loads: tuple[int, ...]
    loop: Loop
    repeats: int
    timing: Timing
    service_levels: tuple[ServiceLevel, ...]
    action: Action | None
    taken: TakenLoad | None = None
    """The rule by which the load is taken from an earlier stage's results; None where the loads are the part's own."""
    of_closed_loop: bool = False
    """Whether that earlier stage is a closed loop, which has no maximum but a rate."""
    stage_start: StageStart | None = None
    """The loads that were found by that rule; None before."""

    @property
    def id(self) -> str:
        """Return the short name for files and anchors; empty where the campaign has only one part."""
        return part_name(self.stage, self.workload_id)

    @property
    def heading(self) -> str:
        """Return the stage's title and the workload for people; empty where the campaign has only one part."""
        return ", ".join(filter(None, (self.stage_title if self.stage else "", self.workload_id)))

    @property
    def source(self) -> str:
        """Return the id of the part whose results give the loads; empty where the part has loads of its own."""
        return part_name(self.taken.source, self.workload_id) if self.taken else ""

    @property
    def has_loads(self) -> bool:
        return self.taken is None or self.stage_start is not None

    def started(self, stage_start: StageStart) -> "Part":
        """Return the part with the loads that were found for it, those of all variants, rising."""
        rates = {load.load_ops_s for load in stage_start.of_workload(self.workload_id) if load.load_ops_s is not None}
        return replace(self, stage_start=stage_start, loads=tuple(sorted(rates)))

    @property
    def found_loads(self) -> tuple[StageLoad, ...]:
        """Return the results that each variant's load was taken from.

        Empty for a part with loads of its own, and while the loads are not known.
        """
        return self.stage_start.of_workload(self.workload_id) if self.stage_start else ()

    @property
    def level(self) -> str:
        """Return the name of the load in cell ids, where the load comes from another stage; else empty."""
        return self.taken.slug if self.taken else ""

    def loads_of(self, variant: str) -> tuple[int, ...]:
        """Return the variant's loads in ops/s, in the definition's order; empty while the loads are not known."""
        if self.taken is None:
            return self.loads
        return tuple(
            load.load_ops_s for load in self.found_loads if load.variant == variant and load.load_ops_s is not None
        )

    @property
    def cells(self) -> int:
        """Return the number of cells of the grid, or the most that a threshold runs of it.

        Where the loads are not known yet, one load of each variant counts.
        """
        if self.taken is None:
            return len(self.variants) * most_cells(self.strategy, len(self.loads) * self.repeats)
        known = sum(load.load_ops_s is not None for load in self.found_loads)
        return (known if self.has_loads else len(self.variants)) * self.repeats

    @property
    def data_scope(self) -> Literal["cell", "repeat"]:
        """Return what data are for: one `cell`, or all loads of a `repeat`, which go on with one database in turn."""
        return "repeat" if isinstance(self.strategy, Ramp) and self.strategy.data == "same" else "cell"

    @property
    def round_scope(self) -> Literal["cell", "variant", "stage"]:
        """Return which cells may run before the strategy is asked again: one `cell`, those of a variant, or of the
        stage.
        """
        if self.data_scope == "repeat":
            return "cell"  # the data that it leaves decide about the next one
        # Otherwise variants take turns, and each turn would end the hosts that are kept for the variant before.
        return "variant" if self.cluster_scope == "variant" and chooses_cells(self.strategy) else "stage"

    def telling(self, variants: Sequence[_Own], own: _Own) -> list[_Own]:
        """Return those of its variants, in order, whose cells tell of another one's how much they differ.

        Where variants run one after the other, only earlier ones do: later ones would call back hosts that are gone.
        """
        index = variants.index(own)
        later = () if self.round_scope == "variant" else variants[index + 1 :]
        return [*variants[:index], *later]

    def loads_on_data_of(self, variant: str, load: int) -> tuple[int, ...]:
        """Return the loads of a repeat, ops/s, that run on the data of the cell at that load, which is among them."""
        return self.loads_of(variant) if self.data_scope == "repeat" else (load,)

    @property
    def knows(self) -> frozenset[Knowledge]:
        """Return what can be known of its cells. Of a closed loop the loads are no more than bounds of the rate."""
        known: dict[Knowledge, bool] = {
            "load": self.loads != NO_LOAD,
            "rate": self.loop != CLOSED,
            "nodes": self.provider.owns == "cluster",
        }
        return frozenset(fact for fact, is_known in known.items() if is_known)

    @property
    def tells_capacity(self) -> bool:
        """Tell whether its cells tell which load is carried: each has one, whose operations are due at their times."""
        return {"load", "rate"} <= self.knows

    @property
    def asks(self) -> Question:
        """Return the question that it answers. A load from an earlier stage, or from a closed loop, is no capacity."""
        if "load" not in self.knows:
            return "an action"
        return "capacity" if self.taken is None and "rate" in self.knows else "at a load"

    @property
    def asked_intervals(self) -> int | None:
        """Return the number of judged intervals over which a threshold's load is to be met; None: as a cell has."""
        over = self.strategy.over if isinstance(self.strategy, Threshold) else None
        return None if over is None else max(1, round(over / self.service_levels[0].interval))

    @property
    def action_before_load(self) -> Action | None:
        """Return the action that has to end before a load may begin; None where a load waits for none."""
        is_before = self.action is not None and (self.action.before_load or "load" not in self.knows)
        return self.action if is_before else None

    @property
    def action_sentence(self) -> str:
        """Return what is done and when; empty without an action."""
        if self.action is None:
            return ""
        return self.action.sentence(self.timing) if "load" in self.knows else f"{self.action}, without a load"

    @property
    def declared_time(self) -> timedelta:
        """Tell how long the definition lets everything of a cell last on its hosts: waiting, populating and the load.

        Hosts live for this time and a margin, and attempts and runs count as alive for as long.
        """
        return (self.wait_for_calm or timedelta(0)) + self.timing.duration + self.timing.beyond_the_load

    @property
    def node_hosts(self) -> int:
        """Return the number of hosts for nodes, with those that stay empty until an action puts a node on them.

        None are needed where somebody else runs the cluster.
        """
        spares = self.action.spares if self.action else 0
        return self.system.nodes + spares if self.provider.owns == "cluster" else 0

    def path(self, key: str, *rest: int | str) -> Path:
        """Return where the definition has that key of the part: in its stage or workload, or at the top for all."""
        stage, workload = self.places
        if key not in self.own_keys:
            return (key, *rest)
        return ("workloads", workload, *rest) if key == "workload" else ("stages", stage, key, *rest)

    def key(self, path: str) -> str:
        """Return the same as text: `workloads[2].name` for `workload.name`."""
        key = re.split(r"\W", path, maxsplit=1)[0]
        return f"{Fault(self.path(key), '').key}{path.removeprefix(key)}"

    def client_options_of(self, variant: Variant) -> dict[str, JsonValue]:
        """Return the workload's options of the protocol that clients of a variant speak."""
        return {name: getattr(self.workload, name) for name in OPTIONS[self.protocol_of(variant)].model_fields}
