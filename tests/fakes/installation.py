"""A Plimsoll of its own in a folder, everything instant but the store: for tests in one process and in many."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path

from tests.fakes.instant import Faults, InstantProvider, toolkit

from plimsoll.domain.definition.definition import Definition
from plimsoll.services.definitions.reference import dump_definition, parse_definition
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings

_TEMPLATE = """
name: {name}
title: An instant campaign
tags: [instant]
system: {{database: instant, version: 4.0.1, nodes: 3}}
variants: [{variants}]
loads: [{loads}]
repeats: {repeats}
workload: {{replication_factor: 3, load_s: {load_s}}}
load_generator: {{name: instant}}
timing: {{duration: 20s, warmup: 10s}}
provider: {{name: instant}}
max_parallel: {parallel}
"""


@cache  # parsing it takes 17 ms of processor time, and many tests ask for the same one
def instant_definition(
    name: str = "instant",
    *,
    variants: int = 2,
    loads: int = 2,
    repeats: int = 1,
    parallel: int = 4,
    load_s: float = 0,
) -> Definition:
    """Return a definition of `variants` × `loads` × `repeats` cells: v1-001k-r1 and so on; each load takes `load_s`
    seconds.
    """
    collectors = ["G1", "CMS", "Shenandoah", "ZGC", "Parallel"]
    jvms = [f"{{jdk: openjdk-11.0.13, collector: {collectors[n]}, heap: 512M}}" for n in range(variants)]
    text = _TEMPLATE.format(
        name=name,
        variants=", ".join(f"{{id: v{n}, jvm: {jvm}}}" for n, jvm in enumerate(jvms, start=1)),
        loads=", ".join(f"{n}000/s" for n in range(1, loads + 1)),
        repeats=repeats,
        parallel=parallel,
        load_s=load_s,
    )
    return parse_definition(text, f"{name}.yaml")


@dataclass(frozen=True)
class Installation:
    """Store, clusters and definitions below one folder."""

    folder: Path
    make_toolkit: Callable[[Settings], Toolkit] = toolkit

    @property
    def environment(self) -> Mapping[str, str]:
        """Return the variables that point processes at the installation."""
        return {
            "PLIMSOLL_STORE": str(self.folder / "store"),
            "PLIMSOLL_WORK": str(self.folder / "work"),
            "PLIMSOLL_CACHE": str(self.folder / "cache"),
            "PLIMSOLL_CAMPAIGNS": str(self.folder / "campaigns"),
            "PLIMSOLL_TOOLKIT": f"{self.make_toolkit.__module__}:{self.make_toolkit.__name__}",
        }

    @cached_property
    def toolkit(self) -> Toolkit:
        """Return the toolkit that those processes get."""
        named = {name.removeprefix("PLIMSOLL_").lower(): value for name, value in self.environment.items()}
        return self.make_toolkit(Settings.model_validate(named))

    @property
    def faults(self) -> Faults:
        """Return the faults to be planted."""
        return Faults(self.folder / "work" / "faults")

    @property
    def provider(self) -> InstantProvider:
        """Return the provider, with its journal."""
        return InstantProvider(self.folder / "work", self.faults)

    def define(self, definition: Definition) -> Definition:
        """Put the definition into the folder of definitions."""
        self.write_definition(definition.name, dump_definition(definition))
        return definition

    def write_definition(self, name: str, text: str) -> None:
        """Put any text there."""
        campaigns = self.folder / "campaigns"
        campaigns.mkdir(parents=True, exist_ok=True)
        (campaigns / f"{name}.yaml").write_text(text)

    def open_campaign(self, definition: Definition, campaign_id: str = "campaign") -> CampaignStore:
        """Return a campaign of that definition, nothing run yet."""
        campaign = CampaignStore(self.toolkit.store, campaign_id)
        campaign.open(definition)
        return campaign

    def attempts(self, campaign_id: str) -> Mapping[str, Sequence[int]]:
        """Return the numbers of each cell's attempts."""
        campaign = CampaignStore(self.toolkit.store, campaign_id)
        return {cell: [key.attempt for key in campaign.attempts(cell)] for cell in campaign.cells_with_attempts()}

    def clusters_of(self, campaign_id: str) -> Sequence[str]:
        """Return the campaign's clusters that are alive."""
        return [str(one.id) for one in self.provider.clusters() if one.id.campaign_id == campaign_id]

    def files(self, campaign_id: str) -> Mapping[str, str]:
        """Return every file of every attempt, manifests among them, with its digest."""
        cells = self.folder / "store" / campaign_id / "cells"
        found = [path for path in cells.rglob("*") if path.is_file()]
        assert any(path.name == "manifest.json" for path in found)
        return {str(path.relative_to(cells)): sha256(path.read_bytes()).hexdigest() for path in found}
