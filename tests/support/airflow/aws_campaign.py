"""The published campaign, instant, on the test cloud through a real Airflow: for the system test and a benchmark."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.fakes.instant_on_aws import toolkit
from tests.support.airflow.cloud_stack import CloudStack, running_cloud_stack
from tests.support.airflow.instant_campaign import cpu_seconds
from tests.support.processes import SOURCES

from plimsoll.bootstrap import load_definition
from plimsoll.domain.campaign.grid import grid
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.services.campaign.state.reading import valid_verdict
from plimsoll.services.hosts.spending import ledger, spent_usd
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.settings import Settings
from plimsoll_airflow.local.client import DagRun
from plimsoll_airflow.local.demo import CampaignRun, poll_s

CAMPAIGN = "azul-instant"
_CLOUD = ("--mode", "instant")
# AWS bills at least one minute for each instance.
_LEAST_S = 60.0


def published(parallel: int, variants: int | None = None, **changes: Any) -> Definition:
    """Return `azul-2022` with that many cells at a time, and its first variants or all.

    Its loads take no time, and the judged histograms are short.
    """
    definition = load_definition(Settings(), "azul-2022").model_dump(mode="json")
    less = {"timing": {"duration": "20s", "warmup": "10s"}, "variants": definition["variants"][:variants]}
    return Definition.model_validate({**definition, **less, "max_parallel": parallel, **changes})


@contextmanager
def stack_with(definition: Definition, folder: Path) -> Iterator[CloudStack]:
    """Provide a real Airflow, and a test cloud whose instances only appear to run."""
    environment = {"PLIMSOLL_TOOLKIT": f"{toolkit.__module__}:{toolkit.__name__}", "PYTHONPATH": SOURCES}
    with running_cloud_stack(folder, [definition], cloud=_CLOUD, env=environment) as stack:
        stack.airflow.client.set_pool("clusters", definition.max_parallel, "How many clusters may live at once")
        yield stack


@dataclass(frozen=True)
class Outcome:
    """What the campaign took, by Airflow's part; what the cloud says of it; `spent_usd` is the product's own account.

    `billed_usd` is what AWS would ask for the same instances: from running until they were told to end, the first
    minute whole.
    """

    run: DagRun
    wall_s: float
    cpu_s: Mapping[str, float]
    cloud: Mapping[str, Any]
    leftovers: Mapping[str, list[str]]
    valid_cells: int
    spent_usd: float
    billed_usd: float
    failures: tuple[str, ...]


def run_on_aws(stack: CloudStack, definition: Definition, timeout_s: float) -> Outcome:
    """Run the definition's DAG once, and wait for its end."""
    client, home = stack.airflow.client, stack.airflow.stack.home
    before, began = cpu_seconds(home), time.monotonic()
    request = {"campaign_id": CAMPAIGN}
    ended = stack.airflow.run_to_end(
        definition.dag_id, request, timeout_s=timeout_s, poll_s=poll_s(len(grid(resolve(definition))))
    )
    after, took = cpu_seconds(home), time.monotonic() - began
    campaign = CampaignStore(stack.store, CAMPAIGN)
    return Outcome(
        run=ended,
        wall_s=took,
        cpu_s={part: after[part] - before[part] for part in after},
        cloud=stack.cloud.summary(),
        leftovers=stack.cloud.leftovers(),
        valid_cells=sum(valid_verdict(campaign, cell.id) is not None for cell in grid(resolve(definition))),
        spent_usd=spent_usd(ledger(campaign, datetime.now(UTC))),
        billed_usd=sum(_bills(stack.cloud.instances())),
        failures=tuple(CampaignRun(client, stack.store, definition, ended).failures()),
    )


def _bills(instances: Iterable[Mapping[str, Any]]) -> Iterator[float]:
    """Yield the bill of each instance that ran and has ended, USD."""
    for one in instances:
        if one["running"] is not None:
            yield bill(one, one["running"], one["shut_down"])


def bill(instance: Mapping[str, Any], began: float, ended: float) -> float:
    """Return USD from one time until another, in seconds, at the price that the instance was launched for."""
    return max(_LEAST_S, ended - began) / 3600 * float(instance["tags"]["plimsoll:usd-per-hour"])
