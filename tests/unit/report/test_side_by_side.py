"""Two synthetic campaigns whose differences are planted."""

import json
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from rich.console import Console
from tests.support.campaigns.attempt_verdicts import disturbed_verdict
from tests.support.campaigns.synthetic import Plan, synthetic_campaign
from tests.unit.report.planted import CAPACITIES, LOADS, campaign, definition, plain

from plimsoll.analysis.campaign.cell_results import AttemptData, CampaignData
from plimsoll.domain.keys.action import Action
from plimsoll.domain.keys.timing import StopRule
from plimsoll.domain.text.errors import Refused
from plimsoll.report.compare.campaigns import CampaignComparison, compare_campaigns, pairing_of, stands
from plimsoll.report.compare.view import comparison_view


def declared_as(seed: int, **changes: object) -> CampaignData:
    """Return the plain campaign with another definition, for changes that nothing was measured of."""
    data, declared = plain(seed), definition(**changes)
    own = tuple(one for one in data.attempts if one.verdict.cell.load_ops_s in declared.loads)
    return replace(data, definition=declared, attempts=own)


def slower(data: CampaignData, variant: str, factor: float) -> CampaignData:
    """Return the same with every worst interval of a variant `factor` times as long, met or not as before."""

    def scaled(attempt: AttemptData) -> AttemptData:
        verdict = attempt.verdict
        if verdict.cell.variant != variant:
            return attempt
        levels = tuple(
            level.model_copy(update={"worst_ms": (level.worst_ms or 0) * factor}) for level in verdict.levels
        )
        return replace(attempt, verdict=verdict.model_copy(update={"levels": levels}))

    return replace(data, attempts=tuple(map(scaled, data.attempts)))


def test_campaigns_that_differ_in_nothing_but_chance_show_no_difference() -> None:
    found = compare_campaigns(plain(1), plain(2))
    assert (found.incomparable, found.environment, found.differences) == ((), (), ())
    assert [one.conclusion for one in found.tests] == ["no difference shown", "no difference shown"]
    assert [(one.variants.a, one.a.capacity_ops_s, one.b.capacity_ops_s, one.ratio) for one in found.capacity] == [
        ("g1", 20_000, 20_000, 1.0),
        ("zgc", 40_000, 40_000, 1.0),
    ]


def beside(data: CampaignData, variant: str, share: float) -> CampaignData:
    """Return the same with other programs on a variant's hosts."""
    own = tuple(
        replace(one, hosts=one.hosts.assign(cpu_others_highest=share)) if one.verdict.cell.variant == variant else one
        for one in data.attempts
    )
    return replace(data, attempts=own)


def test_noise_beyond_the_bounds_is_a_difference_of_the_environments() -> None:
    (found,) = compare_campaigns(plain(1), beside(plain(2), "zgc", 0.76)).environment
    assert (found.fact, found.variants, found.a, found.b) == (
        "CPU of other programs", ("zgc",), "at most 10%", "up to 76%",
    )  # fmt: skip
    assert compare_campaigns(plain(1), beside(plain(2), "zgc", 0.09)).environment == ()


def test_attempts_that_noise_disturbed_are_a_difference_of_the_environments() -> None:
    data = plain(2)
    noisy = replace(data.attempts[0], verdict=disturbed_verdict(data.attempts[0].verdict))
    found = compare_campaigns(plain(1), replace(data, attempts=(noisy, *data.attempts[1:]))).environment
    assert [(one.fact, one.a, one.b) for one in found] == [("attempts that noise disturbed", "none", "1")]


def test_a_planted_difference_stands_for_its_variant_alone_and_the_answer_says_how_large() -> None:
    found = compare_campaigns(plain(1), slower(plain(2), "zgc", 3.0))
    assert [one.conclusion for one in found.tests] == ["no difference shown", "higher"]
    zgc = found.tests[1]
    assert zgc.loads == (20_000, 40_000, 60_000)
    assert zgc.superiority == 1.0
    assert zgc.p_holm is not None
    assert zgc.p_holm < 0.001
    assert "B's worst intervals are higher, and the difference stands (p < 0.001 over 3 loads" in found.answers[1]
    assert "A carries 40,000 ops/s, B carries 40,000 ops/s (1× of A)" in found.answers[1]


def test_what_carries_nothing_or_is_unknown_is_said_in_a_sentence() -> None:
    nothing = replace(plain(1), attempts=())
    low = compare_campaigns(slowed_out(plain(1)), plain(2)).answers[0]
    assert "A carries not even the lowest load, B carries 20,000 ops/s" in low
    unknown = compare_campaigns(nothing, plain(2)).answers[0]
    assert "what A carries is unknown, B carries 20,000 ops/s" in unknown


def slowed_out(data: CampaignData) -> CampaignData:
    """Return the same with every cell missed."""

    def missed(attempt: AttemptData) -> AttemptData:
        levels = tuple(level.model_copy(update={"met": False}) for level in attempt.verdict.levels)
        return replace(attempt, verdict=attempt.verdict.model_copy(update={"met": False, "levels": levels}))

    return replace(data, attempts=tuple(map(missed, data.attempts)))


def test_two_repeats_cannot_show_anything_and_that_is_said_exactly() -> None:
    found = compare_campaigns(
        campaign(1, repeats=2, loads=LOADS[:1]), slower(campaign(2, repeats=2, loads=LOADS[:1]), "zgc", 9.0)
    )
    assert [one.conclusion for one in found.tests] == ["too few repeats", "too few repeats"]
    # Of 4 values 2 can be chosen in 6 ways: twice the chance of the clearest one, times two comparisons.
    assert (
        "these repeats cannot show a difference: the smallest p value that they could have given is 0.333, 0.667 "
        in (found.answers[-1])
    )


def test_a_remark_on_several_variants_is_said_once() -> None:
    found = compare_campaigns(campaign(1, repeats=1), campaign(2, repeats=1))
    remark = "no load has two valid repeats of both, so nothing can be said of a difference"
    assert [remark in one for one in found.answers] == [*(False for _ in found.pairs), True]
    assert found.answers[-1] == f"Every variant: {remark}."


def test_a_single_repeat_says_nothing() -> None:
    found = compare_campaigns(campaign(1, repeats=1), campaign(2, repeats=1))
    assert stands(found.tests[0], 0) == "no load has two valid repeats of both, so nothing can be said of a difference"


@pytest.mark.parametrize(
    ("changes", "keys"),
    [
        ({"service_levels": [{"below": "50ms"}]}, ["service_levels"]),
        ({"service_levels": [{"interval": "5s"}]}, ["service_levels"]),
        ({"timing": {"duration": "80s", "warmup": "40s"}}, ["timing.duration", "timing.warmup"]),
        ({"workload": {"read_share": 0.5}}, ["workload.read_share"]),
        ({"load_generator": {"concurrency": 10}}, ["load_generator.concurrency"]),
        ({"system": {"version": "4.0.1", "nodes": 6}}, ["system.nodes"]),
    ],
)
def test_what_was_asked_or_measured_otherwise_is_refused_by_name_unless_forced(
    changes: dict[str, Any], keys: Any
) -> None:
    b = campaign(2, repeats=1, loads=LOADS[:1], **changes)
    with pytest.raises(Refused) as refusal:
        compare_campaigns(plain(1), b)
    assert [problem.where for problem in refusal.value.problems] == keys
    assert "--force" in str(refusal.value)
    forced = compare_campaigns(plain(1), b, force=True)
    assert [one.what for one in forced.incomparable] == keys


def test_an_action_whose_defaults_are_written_out_is_the_same() -> None:
    def acting(data: CampaignData, **keys: Any) -> CampaignData:
        changed = data.definition.model_copy(update={"action": Action(**keys)})
        return replace(data, definition=changed)

    warmup = plain(1).definition.timing.warmup
    for name, count in (("kill-node", 1), ("compact", 3)):
        written_out = acting(plain(2), name=name, count=count, at=warmup)
        assert not compare_campaigns(acting(plain(1), name=name), written_out).incomparable
    with pytest.raises(Refused, match="action"):
        compare_campaigns(acting(plain(1), name="compact"), acting(plain(2), name="compact", count=1))


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("action", Action(name="kill-node", before_load=True), ("(none)", "kill-node, before_load: True")),
        ("loop", "closed", ("open", "closed")),
        ("rate", "achieved", ("(none)", "achieved")),
        (
            "stop_when",
            (StopRule.model_validate({"errors": "5%", "within": "10s"}),),
            ("(none)", "more than 5 % of the operations of 10s failed"),
        ),
    ],
)
def test_what_was_done_or_judged_otherwise_is_refused_by_name(key: str, value: object, words: tuple[str, str]) -> None:
    changed = plain(2).definition.model_copy(update={key: value})
    found = compare_campaigns(plain(1), replace(plain(2), definition=changed), force=True)
    assert [(one.what, (one.a, one.b)) for one in found.incomparable] == [(key, words)]
    with pytest.raises(Refused, match=key):
        compare_campaigns(plain(1), replace(plain(2), definition=changed))


def test_a_new_database_release_and_other_flags_are_compared_and_named() -> None:
    changed = definition(system={"version": "4.1.10"})
    flagged = changed.variants[0].jvm.model_copy(update={"flags": ("-XX:MaxGCPauseMillis=50",)})
    first = changed.variants[0].model_copy(update={"jvm": flagged})
    flagged_one = changed.model_copy(update={"variants": (first, changed.variants[1])})
    found = compare_campaigns(plain(1), replace(plain(2), definition=flagged_one))
    assert [(one.what, one.a, one.b) for one in found.differences] == [
        ("variants.*.version", "4.0.1", "4.1.10"),
        ("variants.g1.jvm.flags", "(none)", "-XX:MaxGCPauseMillis=50"),
    ]


def test_another_strategy_and_another_canary_are_compared_and_named() -> None:
    found = compare_campaigns(plain(1), declared_as(2, strategy="ramp", canary={"node": {"disk_write": "100M"}}))
    assert [(one.what, one.a, one.b) for one in found.differences] == [
        ("strategy", "full-grid", "ramp, data: fresh"),
        ("canary.node.disk_write", "(none)", "100M"),
    ]


def test_a_fact_of_the_environment_that_differs_for_all_variants_stands_once_and_one_variants_own_by_its_name() -> None:
    lowest = definition(loads=LOADS[:1])
    odd = [f"{variant}-020k-r{repeat}" for variant in CAPACITIES for repeat in range(1, 6)]
    everywhere = synthetic_campaign(lowest, Plan(CAPACITIES, odd_kernels=odd))
    found = compare_campaigns(plain(1), everywhere)
    assert [(one.fact, one.variants, one.a, one.b) for one in found.environment] == [
        ("kernel", (), "5.11.0-1022-aws", "5.11.0-1028-aws"),
        ("load host: kernel", (), "5.11.0-1022-aws", "5.11.0-1028-aws"),
    ]
    of_zgc = synthetic_campaign(lowest, Plan(CAPACITIES, odd_kernels=["zgc-020k-r1"]))
    found = compare_campaigns(plain(1), of_zgc)
    assert [(one.fact, one.variants, one.a, one.b) for one in found.environment] == [
        ("kernel", ("zgc",), "5.11.0-1022-aws", "5.11.0-1022-aws or 5.11.0-1028-aws"),
        ("load host: kernel", ("zgc",), "5.11.0-1022-aws", "5.11.0-1022-aws or 5.11.0-1028-aws"),
    ]


def test_an_unknown_environment_is_said_and_compared_with_nothing() -> None:
    known = plain(1)
    unknown = replace(known, attempts=tuple(replace(one, fingerprint=None) for one in known.attempts))
    found = compare_campaigns(known, unknown)
    assert found.environment == ()
    assert len(found.b.cells_without_fingerprint) == 30
    assert "Nothing is known of the environment in B of: g1-020k-r1" in text(found)


def test_variants_of_other_ids_are_paired_by_name() -> None:
    a, b = plain(1), plain(2)
    found = compare_campaigns(a, b, pairing={"g1": "zgc"})
    assert [(one.variants.a, one.variants.b) for one in found.capacity] == [("g1", "zgc")]
    assert (found.only_a, found.only_b) == (("zgc",), ("g1",))
    assert found.capacity[0].ratio == 2.0


def test_a_pair_that_is_not_there_is_refused_even_by_force() -> None:
    with pytest.raises(Refused, match="A has no variant of that id"):
        compare_campaigns(plain(1), plain(2), pairing={"cms": "zgc"}, force=True)


def test_campaigns_without_a_variant_in_common_are_refused() -> None:
    b = plain(2)
    renamed = b.definition.variants[0].model_copy(update={"id": "other"})
    changed = b.definition.model_copy(update={"variants": (renamed,), "control": None})
    with pytest.raises(Refused, match="none in common"):
        compare_campaigns(plain(1), replace(b, definition=changed, attempts=()), force=True)


def test_a_load_that_one_campaign_does_not_have_is_shown_as_such() -> None:
    found = compare_campaigns(plain(1), declared_as(2, loads=LOADS[:2]))
    assert [(one.load_ops_s, one.b is None) for one in found.loads if one.variants.a == "g1"] == [
        (20_000, False),
        (40_000, False),
        (60_000, True),
    ]
    assert [one.what for one in found.differences] == ["loads"]
    assert "no such load" in text(found)


def test_the_terminal_shows_what_is_unlike_before_any_figure_and_the_range_of_each_side() -> None:
    found = compare_campaigns(plain(1), declared_as(2, workload={"read_share": 0.5}), force=True)
    shown = text(found)
    assert shown.index("NOT COMPARABLE") < shown.index("workload.read_share") < shown.index("Capacity")
    spread = next(one for one in found.loads if one.variants.a == "g1").a.maxima["p99_9_ms"]
    assert f"{spread.low:.3g} to {spread.high:.3g}" in shown


def test_the_document_is_json_with_the_documented_keys() -> None:
    found = compare_campaigns(plain(1), plain(2))
    documented = [key for key in CampaignComparison.model_fields if key != "workload"]  # of several workloads alone
    assert list(json.loads(found.model_dump_json())) == documented


def text(found: CampaignComparison) -> str:
    shown = StringIO()
    Console(width=200, file=shown).print(comparison_view(found))
    return shown.getvalue()


def test_a_terminal_obeys_nothing_in_a_title() -> None:
    shown = text(compare_campaigns(plain(1), declared_as(2, title="\x1b]0;mine\x07")))
    assert "\\x1b]0;mine\\x07" in shown
    assert not {"\x1b", "\x07"} & set(shown)


def test_a_variant_of_a_that_is_paired_twice_is_refused() -> None:
    assert pairing_of(["g1=a", "zgc=b"]) == {"g1": "a", "zgc": "b"}
    with pytest.raises(Refused, match="same variant of A twice"):
        pairing_of(["g1=a", "g1=b"])
