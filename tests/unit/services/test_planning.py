from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.fakes.instant import INSTANT, Faults, InstantLoadGenerator
from tests.support.campaigns.small_definition import SMALL

from plimsoll.adapters.providers.ec2.options import Ec2Options
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.hosts.cost import HostRate, Tariff
from plimsoll.domain.keys.timing import StopRule, Timing
from plimsoll.services.campaign.open.planning import make_plan, new_campaign_id
from plimsoll.services.campaign.open.remarks import remarks
from plimsoll.services.campaign.open.runnable import problems
from plimsoll.services.definitions.reference import parse_definition
from plimsoll.strategies.matrix import running_order

CAMPAIGNS = Path(__file__).parents[3] / "include" / "campaigns"


@pytest.fixture(scope="module")
def azul() -> Any:
    return parse_definition((CAMPAIGNS / "azul-2022.yaml").read_text(), "azul-2022.yaml")


def test_the_published_campaign_has_275_cells_and_687_5_cell_hours(azul: Any) -> None:
    totals = make_plan(resolve(azul)).as_json()["totals"]
    assert (totals["cells"], totals["variants"], totals["loads"], totals["repeats"]) == (275, 5, 11, 5)
    assert totals["cell_hours"] == 687.5


def test_the_search_over_the_published_matrix_takes_a_part_of_its_cells() -> None:
    searched = parse_definition((CAMPAIGNS / "azul-2022-search.yaml").read_text(), "azul-2022-search.yaml")
    totals = make_plan(resolve(searched)).as_json()["totals"]
    assert (totals["cells"], totals["cells_least"], totals["cells_most"]) == (275, 5, 275)
    assert totals["cells_least"] < totals["cells_likely"] < 150
    assert totals["cell_hours_likely"] == totals["cells_likely"] * 2.5
    assert totals["usd_most"] == 0


def test_the_full_grid_takes_all_its_cells(azul: Any) -> None:
    totals = make_plan(resolve(azul)).as_json()["totals"]
    assert (totals["cells_least"], totals["cells_likely"], totals["cells_most"]) == (275, 275, 275)


def test_a_repeat_is_a_block_with_every_variant_and_load_once(azul: Any) -> None:
    order = running_order(resolve(azul))
    blocks = [order[start : start + 55] for start in range(0, 275, 55)]
    for repeat, block in enumerate(blocks, start=1):
        assert {cell.repeat for cell in block} == {repeat}
        assert len({(cell.variant, cell.load_ops_s) for cell in block}) == 55


def test_the_order_comes_from_the_seed_alone(azul: Any) -> None:
    other = azul.model_copy(update={"seed": 1})
    assert running_order(resolve(azul)) == running_order(resolve(azul))
    assert running_order(resolve(azul)) != running_order(resolve(other))


def test_blocks_are_shuffled_differently(azul: Any) -> None:
    order = [(cell.variant, cell.load_ops_s) for cell in running_order(resolve(azul))]
    assert order[:55] != order[55:110]


def test_cell_ids_are_unique_and_known_in_advance(azul: Any) -> None:
    cells = make_plan(resolve(azul)).as_json()["cells"]
    assert len({cell["id"] for cell in cells}) == 275
    assert {"id": "g1-040k-r3", "variant": "g1", "load_ops_s": 40_000, "repeat": 3} in cells


@pytest.mark.parametrize(("parallel", "hosts", "rounds"), [(1, 4, 275), (8, 32, 35), (55, 220, 5), (500, 1100, 1)])
def test_hosts_and_time_follow_from_parallelism(azul: Any, parallel: int, hosts: int, rounds: int) -> None:
    plan = make_plan(resolve(azul), parallel=parallel)
    assert plan.hosts == hosts
    assert plan.load_time == rounds * timedelta(minutes=150)


def test_campaign_ids_name_definition_and_time(azul: Any) -> None:
    at = datetime(2026, 1, 31, 12, 0, 5, tzinfo=UTC)
    assert new_campaign_id(azul.name, at) == "azul-2022-20260131t120005"


def test_a_tariff_gives_cost_and_vcpus(azul: Any) -> None:
    node = HostRate(kind="r5d.2xlarge", vcpus=8, usd_per_hour=0.576)
    load = HostRate(kind="c5.2xlarge", vcpus=8, usd_per_hour=0.34)
    plan = make_plan(resolve(azul), tariff=Tariff(node=node, load=load, source="a table"))
    assert plan.usd == pytest.approx(687.5 * (3 * 0.576 + 0.34))
    assert plan.vcpus == 8 * 32
    assert plan.as_json()["cost"]["tariff"]["source"] == "a table"


def test_the_document_of_a_search_tells_its_own_cost_and_cells_at_a_time_beside_the_grids_without_tails_of_sums() -> (
    None
):
    searched = parse_definition((CAMPAIGNS / "azul-2022-search.yaml").read_text(), "azul-2022-search.yaml")
    node, load = (HostRate(kind="any", vcpus=8, usd_per_hour=usd) for usd in (0.576, 0.34))
    plan = make_plan(resolve(searched), tariff=Tariff(node=node, load=load, source="a table")).as_json()
    totals, cost = plan["totals"], plan["cost"]
    assert (totals["parallel"], totals["at_once"], totals["hosts"], totals["vcpus"]) == (8, 5, 20, 160)
    assert (
        (cost["usd"], cost["usd_likely"]) == (totals["usd_most"], totals["usd_likely"]) == (1421.75, cost["usd_likely"])
    )
    assert totals["usd_least"] == 25.85
    assert cost["usd_likely"] < cost["usd"]
    sums = [value for key, value in (totals | cost).items() if "hours" in key or "usd" in key]
    assert all(value == round(value, 3) for value in sums)


def test_without_a_tariff_a_plan_costs_nothing(azul: Any) -> None:
    plan = make_plan(resolve(azul))
    assert (plan.usd, plan.vcpus) == (0.0, None)


def test_the_published_campaign_names_the_published_machines(azul: Any) -> None:
    options = Ec2Options.model_validate(azul.provider.options)
    assert (options.instance_types.node, options.instance_types.load) == ("r5d.2xlarge", "c5.2xlarge")


def rates(vcpus: int | None) -> Tariff:
    host = HostRate(kind="c5.2xlarge", vcpus=vcpus, usd_per_hour=0.34)
    return Tariff(node=host, load=host, source="a table")


@pytest.mark.parametrize(
    ("load", "vcpus", "remark"),
    [
        (120_000, 8, ""),
        (
            150_000,
            8,
            "one load host will not do: 150000/s take at least 8.0 processors, as measured, and c5.2xlarge has 8",
        ),
        (150_000, None, ""),
    ],
)
def test_a_load_that_one_load_host_can_not_send_is_told(
    tmp_path: Path, load: int, vcpus: int | None, remark: str
) -> None:
    definition = instant_definition().model_copy(update={"loads": (1000, load)})
    toolkit = Installation(tmp_path).toolkit
    measured = Measured(Faults(tmp_path / "faults"))
    found = list(
        remarks(
            replace(toolkit, load_generators={INSTANT: measured}), make_plan(resolve(definition), tariff=rates(vcpus))
        )
    )
    assert [one.partition(";")[0] for one in found] == ([remark] if remark else [])


@pytest.mark.parametrize(
    ("hosts", "remark"),
    [
        (1, "one load host will not do"),
        (2, "2 load hosts will not do: 300000/s take at least 15.9 processors, as measured, and c5.2xlarge has 8"),
        (3, ""),
    ],
)
def test_so_many_load_hosts_as_it_advises_will_do(tmp_path: Path, hosts: int, remark: str) -> None:
    definition = with_load_hosts(hosts).model_copy(update={"loads": (300_000,)})
    toolkit = replace(Installation(tmp_path).toolkit, load_generators={INSTANT: Measured(Faults(tmp_path / "faults"))})
    found = list(remarks(toolkit, make_plan(resolve(definition), tariff=rates(8))))
    assert [one.startswith(remark) and "`hosts: 3` or more" in one for one in found] == ([True] if remark else [])


def test_the_end_of_the_loads_is_told_beside_the_deadline(tmp_path: Path) -> None:
    hourly, tools = Timing(duration=timedelta(hours=1), warmup=timedelta(0)), Installation(tmp_path).toolkit
    made = instant_definition().model_copy(update={"timing": hourly})
    assert not [one for one in remarks(tools, make_plan(resolve(made))) if "`finish_by`" in one]
    for hours, told in ((0.5, "0:30:00 after `finish_by`: cells that would end later do not run"), (2, "before")):
        due = made.model_copy(update={"finish_by": timedelta(hours=hours)})
        [remark] = [one for one in remarks(tools, make_plan(resolve(due))) if "`finish_by`" in one]
        assert told in remark


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("strategy: {name: search, guard: 2}", ["`guard: 2` has no effect"]),
        ("strategy: {name: search, mode: fast, guard: 2}", []),
        ("strategy: {name: search, mode: exact, guard: 1}", []),
        ("strategy: full-grid", []),
    ],
)
def test_a_guard_that_a_search_does_not_use_is_remarked_on(tmp_path: Path, strategy: str, expected: list[str]) -> None:
    definition = parse_definition(f"{SMALL.read_text()}\n{strategy}\n", "mine.yaml")
    found = list(remarks(Installation(tmp_path).toolkit, make_plan(resolve(definition))))
    assert [one.partition(": an exact")[0] for one in found if "guard" in one] == expected


BY_COMMAND = {"name": "command", "command": {"run": "gen --rate {rate} {duration}", "outputs": ["*.hdr"]}}


@pytest.mark.parametrize(
    ("load", "generator", "told"),
    [
        (100, BY_COMMAND, ["a cell at 100/s has 6,000 operations in its judged time"]),
        (1_500, BY_COMMAND, []),
        (100, {"name": "plimsoll-stress"}, []),
    ],
)
def test_a_cell_that_a_random_schedule_may_leave_short_is_told_with_how_long_it_must_be(
    tmp_path: Path, load: int, generator: dict[str, Any], told: list[str]
) -> None:
    content = {
        **instant_definition().model_dump(mode="json"),
        "loads": [f"{load}/s", "90000/s"],
        "timing": {"duration": "80s", "warmup": "20s"},
        "load_generator": generator,
    }
    plan = make_plan(resolve(Definition.model_validate(content)))
    found = [one for one in remarks(Installation(tmp_path).toolkit, plan) if "random times" in one]
    assert [one.partition(": if")[0] for one in found] == told
    short = "may be 3.9% off by chance; 90,000 operations bring that to 1%, which here take 900 s"
    assert all(one.endswith(short) for one in found)


def test_every_load_host_is_counted_and_paid_for() -> None:
    definition = with_load_hosts(2).model_copy(update={"max_parallel": 1})
    node = HostRate(kind="r5d.2xlarge", vcpus=8, usd_per_hour=0.5)
    load = HostRate(kind="c5.2xlarge", vcpus=4, usd_per_hour=0.25)
    plan = make_plan(resolve(definition), tariff=Tariff(node=node, load=load, source="a table"))
    assert (plan.hosts, plan.vcpus) == (5, 3 * 8 + 2 * 4)
    assert plan.usd == pytest.approx(plan.hours("all") * (3 * 0.5 + 2 * 0.25))
    assert plan.host_hours("all") == pytest.approx(plan.hours("all") * 5)


def test_only_the_stage_whose_action_needs_them_is_planned_with_spare_hosts() -> None:
    told = make_plan(resolve(parse_definition((CAMPAIGNS / "local-n-1.yaml").read_text(), "local-n-1.yaml"))).as_json()
    assert [round(one["host_hours"] / one["cell_hours"], 1) for one in told["stages"]] == [4.0, 4.0, 5.0]
    assert told["totals"]["host_hours"] == pytest.approx(sum(one["host_hours"] for one in told["stages"]), abs=0.01)


def test_a_load_generator_that_can_not_share_a_load_is_refused_several_load_hosts(tmp_path: Path) -> None:
    toolkit = replace(Installation(tmp_path).toolkit, load_generators={INSTANT: Alone(Faults(tmp_path / "faults"))})
    (problem,) = problems(toolkit, with_load_hosts(2))
    assert str(problem) == (
        "load_generator.hosts: instant can't share a load among 2 load hosts (write `hosts: 1`, or use plimsoll-stress)"
    )
    assert not problems(toolkit, with_load_hosts(1))


def with_load_hosts(hosts: int) -> Definition:
    definition = instant_definition()
    several = definition.load_generator.model_copy(update={"hosts": hosts})
    return definition.model_copy(update={"load_generator": several})


class Alone(InstantLoadGenerator):
    """Has no way to begin at a time that it is told."""

    can_wait = False


class Measured(InstantLoadGenerator):
    """As plimsoll-stress was measured."""

    def processors(self, load_ops_s: int) -> float | None:
        """Return those of 53 µs an operation."""
        return load_ops_s * 53e-6


def test_the_cells_that_a_ramp_begins_with_are_first() -> None:
    published = parse_definition((CAMPAIGNS / "datastax-2021.yaml").read_text(), "datastax-2021.yaml")
    plan = make_plan(resolve(published))
    lowest = min(cell.load_ops_s for cell in plan.cells)
    assert {(cell.stage, cell.load_ops_s) for cell in plan.first} == {("maximum", lowest)}
    ladders = len(published.variants) * len(published.workloads)
    assert len(plan.first) == ladders * resolve(published).parts[0].repeats


def test_a_full_grid_begins_with_the_first_of_all_cells(azul: Any) -> None:
    plan = make_plan(resolve(azul))
    assert plan.first == plan.cells


def ended(timing: dict[str, str], **changes: Any) -> Definition:
    """Return the published campaign with these timings, on the instant load generator."""
    content = parse_definition((CAMPAIGNS / "azul-2022.yaml").read_text(), "azul-2022.yaml").model_dump(mode="json")
    generator = {**content["load_generator"], "name": "instant"}
    return Definition.model_validate({**content, "load_generator": generator, "timing": timing, **changes})


def test_a_load_ends_early_only_by_a_generator_that_can(tmp_path: Path) -> None:
    generator = InstantLoadGenerator(Faults(tmp_path))
    toolkit = replace(Installation(tmp_path).toolkit, load_generators={"instant": generator})
    usual = instant_definition()
    stopping = usual.model_copy(update={"timing": usual.timing.model_copy(update={"stop": "decided"})})
    [problem] = problems(toolkit, stopping)
    assert (problem.where, problem.what) == ("timing.stop", "instant can't end a load early: it judges no interval")
    generator.can_end_early = True
    assert not problems(toolkit, stopping)


def test_hours_count_the_loads_that_are_likely_to_end_early() -> None:
    """A load that misses ends after 30 min and five intervals of 10 s; of a full grid half is likely to."""
    timing = {"duration": "150m", "warmup": "30m"}
    whole, plan = make_plan(resolve(ended(timing))), make_plan(resolve(ended({**timing, "stop": "decided"})))
    least, likely = 275 * 1850 / 3600, 275 * (150 / 2 + 1850 / 60 / 2) / 60
    assert plan.hours("all") == whole.hours("all") == plan.hours("most") == 687.5
    assert (plan.hours("least"), plan.hours("likely")) == pytest.approx((least, likely))
    assert plan.load_time.total_seconds() == pytest.approx(whole.load_time.total_seconds() * likely / 687.5)
    assert plan.as_json()["totals"]["cell_hours_likely"] == pytest.approx(likely, abs=0.001)
    assert (whole.is_estimated, plan.is_estimated) == (False, True)


def test_hours_of_a_search_count_only_the_misses_that_it_is_likely_to_run() -> None:
    timing = {"duration": "150m", "warmup": "30m"}
    usual = make_plan(resolve(ended(timing, strategy="search")))
    plan = make_plan(resolve(ended({**timing, "stop": "decided"}, strategy="search")))
    missed = usual.estimate.likely_missed
    assert 0 < missed < usual.estimate.likely
    assert usual.hours("likely") - plan.hours("likely") == pytest.approx(missed * (9000 - 1850) / 3600)


def test_a_stop_rule_is_refused_where_the_generator_can_not_keep_it(tmp_path: Path) -> None:
    generator = InstantLoadGenerator(Faults(tmp_path))
    toolkit = replace(Installation(tmp_path).toolkit, load_generators={"instant": generator})
    rule = StopRule.model_validate({"errors": "5%", "within": "10s"})
    guarded = instant_definition().model_copy(update={"stop_when": (rule,)})
    [problem] = problems(toolkit, guarded)
    assert problem.where == "stop_when[0]"
    assert problem.what == "instant can't end a load by this rule: it judges no operation"
    generator.unkept_because = ""
    assert not problems(toolkit, guarded)


def test_the_plan_offers_what_is_saved_by_loads_that_end_early(tmp_path: Path) -> None:
    generator = InstantLoadGenerator(Faults(tmp_path))
    toolkit = replace(Installation(tmp_path).toolkit, load_generators={"instant": generator})
    usual, stopping = {"duration": "150m", "warmup": "30m"}, {"duration": "150m", "warmup": "30m", "stop": "decided"}

    def offers(definition: Definition) -> list[str]:
        return [one for one in remarks(toolkit, make_plan(resolve(definition))) if "stop: decided" in one]

    assert offers(ended(usual)) == []
    generator.can_end_early = True
    [offer] = offers(ended(usual))
    assert offer.endswith("about 414 cell-hours instead of 688, with the same capacities")
    assert offers(ended(stopping)) == []
    assert offers(ended(usual, action={"name": "compact"})) == []
