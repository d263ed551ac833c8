"""What follows from the keys of a definition."""

from datetime import timedelta
from typing import Any, Self

from pydantic import JsonValue, PrivateAttr, SerializerFunctionWrapHandler, model_serializer

from plimsoll.domain.definition_keys import DefinitionKeys
from plimsoll.domain.loads import CLOSED, NO_LOAD
from plimsoll.domain.protocols import KNOWN_PRODUCTS, OPTIONS, UNKNOWN, protocol_of
from plimsoll.domain.provenance import IMPORTED
from plimsoll.domain.stage import Stage, StageStarts
from plimsoll.domain.strategy import FullGrid, keeps_data
from plimsoll.domain.system import NOT_KNOWN
from plimsoll.domain.variant import Variant

_OF_A_STAGE = ("strategy", "loads", "loop", "repeats", "timing", "service_levels", "action")


class DefinitionFacts(DefinitionKeys):
    """The keys of a definition, and what follows from them, whether or not they contradict one another."""

    _stage_starts: StageStarts = PrivateAttr(default_factory=dict)

    @model_serializer(mode="wrap")
    def _without_foreign_options(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out options of protocols that no clients speak, except those that somebody set."""
        fields: dict[str, Any] = dump(self)
        dumped = [
            (self.workload, fields.get("workload")),
            *zip(self.workloads, fields.get("workloads", ()), strict=False),
        ]
        for workload, options in dumped:
            for key in workload.foreign_options(self.protocols) - workload.model_fields_set if options else ():
                options.pop(key, None)
        return fields

    @property
    def stage_starts(self) -> StageStarts:
        """Return the loads that stages took from earlier stages' results.

        Only a campaign's own copy of its definition has them.
        """
        return self._stage_starts

    def with_stage_starts(self, stage_starts: StageStarts) -> Self:
        """Return the same definition with the loads of these stages filled in."""
        filled = self.model_copy()
        filled._stage_starts = stage_starts
        return filled

    @property
    def of_stages(self) -> tuple[tuple[Stage | None, Self], ...]:
        """Return each stage with a definition of its own, in order. A definition without stages gives None and itself.

        Where a stage takes its load from another stage, its definition has no `loads`.
        """
        if not self.stages:
            return ((None, self),)
        return tuple((stage, self._of_stage(stage)) for stage in self.stages)

    def _of_stage(self, stage: Stage) -> Self:
        own = {name: getattr(stage, name) for name in _OF_A_STAGE if getattr(stage, name) is not None}
        workloads = tuple(one for one in self.workloads if stage.has(one.id))
        taken = {"loads": ()} if stage.taken else {}
        return self.model_copy(update={**own, **taken, "workloads": workloads, "stages": ()})

    @property
    def is_unloaded(self) -> bool:
        """Whether an action is done and nothing else: no load begins after populating."""
        return self.loads == NO_LOAD

    @property
    def is_closed_loop(self) -> bool:
        """Whether an operation is sent only when another was answered, so that the loads are no more than bounds."""
        return self.loop == CLOSED

    @property
    def acts_before_load(self) -> bool:
        """Whether its action has to end before a load may begin."""
        return self.action is not None and (self.action.before_load or self.is_unloaded)

    @property
    def action_sentence(self) -> str:
        """Return what is done and when; empty without an action."""
        if self.action is None:
            return ""
        return f"{self.action}, without a load" if self.is_unloaded else self.action.sentence(self.timing)

    @property
    def cells(self) -> int:
        """Return the number of cells of the grid, computed without making them.

        Stages whose loads are not known yet count too.
        """
        return sum(self.cells_of_stages)

    @property
    def cells_of_stages(self) -> tuple[int, ...]:
        """Return the number of cells of each stage."""
        return tuple(self._cells_of(stage, alone) for stage, alone in self.of_stages)

    def _cells_of(self, stage: Stage | None, alone: Self) -> int:
        ladders = len(self.variants) * max(1, len(alone.workloads))
        if stage is None or stage.taken is None:
            return ladders * len(alone.loads) * alone.repeats
        stage_start = self.stage_starts.get(stage.id)
        known = ladders if stage_start is None else sum(one.load_ops_s is not None for one in stage_start.loads)
        return known * alone.repeats

    @property
    def load_time(self) -> timedelta:
        """Return the total time under load if every cell runs once, one after another."""
        return sum(self.load_times, timedelta(0))

    @property
    def load_times(self) -> tuple[timedelta, ...]:
        """Return the same of each stage's cells."""
        durations = [alone.timing.duration for _, alone in self.of_stages]
        return tuple(cells * duration for cells, duration in zip(self.cells_of_stages, durations, strict=True))

    @property
    def declared_time(self) -> timedelta:
        """Tell how long the definition lets everything of a cell last on its hosts: waiting, populating and the load.

        Hosts live for this time and a margin, and so long attempts and runs count as alive.
        """
        return (self.wait_for_calm or timedelta(0)) + self.timing.with_populating

    def populated_of(self, cells: int) -> int:
        """Tell how many of that many cells of a definition without stages populate: all, or one of each repeat whose
        loads share their data.
        """
        repeats = len(self.variants) * max(1, len(self.workloads)) * self.repeats
        return min(cells, repeats) if keeps_data(self.strategy) else cells

    def beyond_loads(self, cells: int) -> timedelta:
        """Return the time that the definition, which has no stages, gives that many cells beside their loads: for
        waiting and populating.
        """
        populating = self.populated_of(cells) * self.timing.beyond_the_load
        return cells * (self.wait_for_calm or timedelta(0)) + populating

    @property
    def host_times(self) -> tuple[timedelta, ...]:
        """Return the total time for which each stage's cells need hosts, as far as the definition tells."""
        alone = [(one, cells) for (_, one), cells in zip(self.of_stages, self.cells_of_stages, strict=True)]
        return tuple(cells * one.timing.duration + one.beyond_loads(cells) for one, cells in alone)

    @property
    def money(self) -> tuple[str, float | None]:
        """Return the key of the least amount that the campaign may cost, and that amount, USD; None without a limit."""
        ceiling = self.at_most.cost if self.at_most else None
        if ceiling is not None and (self.budget is None or ceiling < self.budget):
            return "at_most.cost", ceiling
        return "budget", self.budget

    @property
    def shortest(self) -> timedelta:
        """Tell how long the campaign's shortest cells are loaded."""
        return min(alone.timing.duration for _, alone in self.of_stages)

    @property
    def cluster_size(self) -> int:
        """Return the number of hosts of one cluster: database nodes, hosts for new nodes, and load hosts."""
        return self.node_hosts + self.load_generator.hosts

    @property
    def node_hosts(self) -> int:
        """Return the number of hosts for nodes, with those that stay empty until an action puts a node on them.

        None are needed where somebody else runs the cluster.
        """
        if self.provider.is_external:
            return 0
        actions = (alone.action for _, alone in self.of_stages)
        return self.system.nodes + max((action.spares for action in actions if action), default=0)

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Return the numbers of hosts for nodes and of load hosts of each stage's clusters.

        Kept hosts serve cells of any stage, so there are as many as the largest stage needs.
        """
        own = (self if self.cluster_scope != "cell" else alone for _, alone in self.of_stages)
        return tuple((one.node_hosts, self.load_generator.hosts) for one in own)

    @property
    def has_rounds(self) -> bool:
        """Tell whether the campaign runs in rounds: it has stages, or its strategy chooses cells by earlier results."""
        return len(self.stages) > 1 or any(not isinstance(one.strategy, FullGrid) for _, one in self.of_stages)

    def variant(self, variant_id: str) -> Variant:
        """Return the variant with that id. Raises KeyError when the definition has no such variant."""
        return {variant.id: variant for variant in self.variants}[variant_id]

    def product_of(self, variant: Variant) -> str:
        """Return the name of the database that a variant runs."""
        return variant.product or self.system.database

    def protocol_of(self, variant: Variant) -> str:
        """Return the protocol that clients of a variant's product speak."""
        product = self.product_of(variant)
        is_stated = self.provider.name != IMPORTED or product in KNOWN_PRODUCTS
        return protocol_of(product) if is_stated else UNKNOWN

    def client_options_of(self, variant: Variant) -> dict[str, JsonValue]:
        """Return the workload's options of the protocol that clients of a variant speak."""
        return {name: getattr(self.workload, name) for name in OPTIONS[self.protocol_of(variant)].model_fields}

    @property
    def protocols(self) -> tuple[str, ...]:
        """Return the protocols that clients of all variants speak, each once, in the variants' order."""
        return tuple(dict.fromkeys(map(self.protocol_of, self.variants)))

    def version_of(self, variant: Variant) -> str:
        """Return the database release that a variant runs. A valid definition gives one for every variant.

        Where somebody else runs the cluster it may be `NOT_KNOWN`.
        """
        own = variant.version or (self.system.version if self.product_of(variant) == self.system.database else None)
        assert own is not None or self.provider.is_external, "variants without a version are refused"
        return own or NOT_KNOWN

    def settings_of(self, variant: Variant) -> dict[str, JsonValue]:
        """Return the settings that a variant's database gets in addition to the adapter's defaults."""
        return {**self.settings_of_system(self.product_of(variant)), **variant.settings}

    def settings_of_system(self, product: str) -> dict[str, JsonValue]:
        """Return the system's settings, which hold for every variant of the system's product; empty for other
        products.
        """
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
