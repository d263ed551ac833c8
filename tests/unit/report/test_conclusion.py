from dataclasses import replace

import pytest
from tests.support.campaigns.outcomes import Outcomes, campaign_of

from plimsoll.analysis.campaign.cell_results import AttemptData
from plimsoll.analysis.campaign.findings import Findings, analyse
from plimsoll.domain.hosts.fingerprint import Provenance
from plimsoll.domain.keys.service_level import LevelVerdict
from plimsoll.report.formatting import moment
from plimsoll.report.words.answers import headline, threshold_words
from plimsoll.report.words.conclusion import conclusion
from plimsoll.report.words.header import header_facts

LOW, MID, TOP = 10_000, 20_000, 30_000
ONE = "; one repeat each: one more cell that misses there would contradict it."
TWO = "; 2 repeats each, which show that one more would be met with a probability of 22 % or more."

TOLD: dict[str, tuple[Outcomes, str]] = {
    "one carries, one not even that": (
        {"g1": {LOW: "x", MID: "x"}, "s": {LOW: "m", MID: "x"}},
        "S carries 10,000 ops/s, G1 not even that" + ONE,
    ),
    "two alike": (
        {"a": {LOW: "mm", MID: "xm"}, "b": {LOW: "mm", MID: "xx"}},
        "A and B carry 10,000 ops/s; 20,000 ops/s is too much" + TWO,
    ),
    "one variant": ({"a": {LOW: "m", MID: "x"}}, "A carries 10,000 ops/s; 20,000 ops/s is too much" + ONE),
    "all met, one variant": (
        {"a": {LOW: "m", MID: "m"}},
        "A carries 20,000 ops/s, the highest load that was run" + ONE,
    ),
    "all met, five variants": (
        {name: {LOW: "mm"} for name in "abcde"},
        "All 5 variants carry 10,000 ops/s, the highest load that was run" + TWO,
    ),
    "none met, one variant": (
        {"a": {LOW: "x"}},
        "A does not carry even 10,000 ops/s, the lowest load that was run; one repeat each: one missed interval "
        "decides.",
    ),
    "none met, two variants": (
        {"a": {LOW: "xx"}, "b": {LOW: "xm"}},
        "Neither A nor B carries even 10,000 ops/s, the lowest load that was run; 2 repeats each, of which one that "
        "misses decides.",
    ),
    "none met, five variants": (
        {name: {LOW: "x"} for name in "abcde"},
        "None of 5 variants carries even 10,000 ops/s, the lowest load that was run; one repeat each: one missed "
        "interval decides.",
    ),
    "five variants, each its own": (
        {
            "a": {LOW: "m", MID: "m", TOP: "m"},
            "b": {LOW: "m", MID: "m", TOP: "x"},
            "c": {LOW: "m", MID: "x", TOP: "x"},
            "d": {LOW: "m", MID: "x", TOP: "x"},
            "e": {LOW: "x", MID: "x", TOP: "x"},
        },
        "A carries at least 30,000 ops/s; B 20,000 ops/s; C and D 10,000 ops/s; E not even 10,000 ops/s, the lowest "
        "load that was run" + ONE,
    ),
    "incomplete": (
        {"a": {LOW: "mm", MID: "mi"}, "b": {LOW: "m.", MID: ".."}},
        "A carries at least 10,000 ops/s, what B carries is unknown" + TWO
        + " The campaign is incomplete: 4 of 8 cells have no valid attempt.",
    ),
    "undecided": (
        {"a": {LOW: "m", MID: "i"}},
        "A carries at least 10,000 ops/s; 20,000 ops/s is undecided" + ONE
        + " The campaign is incomplete: 1 of 2 cells has no valid attempt.",
    ),
    "two met, one of them short of its rate": (
        {"a": {LOW: "s", MID: "x"}, "b": {LOW: "m", MID: "x"}},
        "B carries 10,000 ops/s, A 9,000 ops/s of 10,000 ops/s (the rate that was achieved)" + ONE,
    ),
    "the highest load was met short of its rate": (
        {"a": {LOW: "m", MID: "s"}},
        "A carries 18,000 ops/s of 20,000 ops/s (the rate that was achieved), the highest load that was run" + ONE,
    ),
    "nothing run": (
        {"a": {LOW: "."}, "b": {LOW: "i"}},
        "What A and B carry is unknown. The campaign is incomplete: 2 of 2 cells have no valid attempt.",
    ),
    "missed and unknown": (
        {"a": {LOW: "x"}, "b": {LOW: "i"}},
        "A does not carry even 10,000 ops/s, the lowest load that was run, what B carries is unknown; one repeat each:"
        " one missed interval decides. The campaign is incomplete: 1 of 2 cells has no valid attempt.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TOLD)
def test_every_shape_of_a_campaign_has_its_sentence(case: str) -> None:
    outcomes, words = TOLD[case]
    assert conclusion(analyse(campaign_of(outcomes))) == words


ALL_MET, ALL_MISSED, FIVE_MET, ONE_MISSED = "m" * 9, "x" * 9, "mmmmm....", "x........"


@pytest.mark.parametrize(
    ("outcomes", "words"),
    [
        ({"a": {LOW: ALL_MISSED, TOP: ALL_MISSED}}, "A does not carry even the lowest load of the range"),
        ({"a": {LOW: ALL_MET, TOP: ALL_MET}}, "A carries 30,000 ops/s, the highest load of the range"),
        ({"a": {LOW: ONE_MISSED, TOP: ONE_MISSED}}, "A carries at most 20,100 ops/s"),
        (
            {"a": {LOW: ONE_MISSED, TOP: ONE_MISSED}, "b": {LOW: FIVE_MET, TOP: FIVE_MET}},
            "B carries at least 30,000 ops/s, A carries at most 20,100 ops/s",
        ),
        (
            {"a": {LOW: ALL_MISSED, TOP: ALL_MISSED}, "b": {LOW: ALL_MET, TOP: ALL_MISSED}},
            "B carries 16,700 ops/s (at most 29,400), A not even the lowest load of the range",
        ),
    ],
)
def test_a_threshold_is_told_by_its_bounds_and_with_its_chance(outcomes: Outcomes, words: str) -> None:
    strategy = {"name": "threshold", "over": "10m"}
    assert conclusion(analyse(campaign_of(outcomes, strategy=strategy))).startswith(
        f"{words}, with a chance of 90 % over 10m."
    )


def test_a_threshold_that_lies_above_the_loads_though_not_for_sure_is_told_by_its_lower_end() -> None:
    findings = analyse(campaign_of({"a": {1_000: "m" * 3, 2_000: "m" * 3, 4_000: "mmx"}}, strategy="threshold"))
    [capacity] = findings.capacities
    assert capacity.asked is not None
    above = capacity.asked.model_copy(update={"ops_s": None, "low_ops_s": 3_500.0, "high_ops_s": None})
    told = capacity.model_copy(update={"kind": "at-least", "capacity_ops_s": 3_500, "threshold": above})
    words = conclusion(replace(findings, capacities=(told,)))
    assert words.startswith("A carries at least 3,500 ops/s, with a chance of 90 %")


@pytest.mark.parametrize("kind", ["at-least", "provisional"])
def test_a_bound_of_a_threshold_is_rounded_to_the_safe_side_and_alike_everywhere(kind: str) -> None:
    findings = analyse(campaign_of({"a": {1_000: "m" * 3, 2_000: "m" * 3, 4_000: "mmx"}}, strategy="threshold"))
    [capacity] = findings.capacities
    assert capacity.asked is not None
    above = capacity.asked.model_copy(
        update={"ops_s": None, "low_ops_s": 3_517.0, "high_ops_s": None, "stopped": "most cells"}
    )
    told = capacity.model_copy(update={"kind": kind, "capacity_ops_s": 3_517, "threshold": above})
    assert headline(told) == threshold_words(above) == "at least 3,510 ops/s"
    between = above.model_copy(update={"ops_s": 4_017.0, "high_ops_s": 5_001.0})
    assert threshold_words(between) == "4,020 ops/s (3,510 to 5,010)"
    whole = above.model_copy(update={"low_ops_s": 3_519.9999999999995, "high_ops_s": 5_010.000000000001})
    assert threshold_words(whole) == "3,520 to 5,010 ops/s"


@pytest.mark.parametrize("is_floor", [False, True])
def test_a_miss_by_failed_operations_is_no_close_call(is_floor: bool) -> None:
    data = campaign_of({"a": {1_000: "mmm", 2_000: "xxx"}})

    def close(attempt: AttemptData) -> AttemptData:
        verdict = attempt.verdict
        levels = tuple(
            level.model_copy(update={"missed": 1, "worst_ms": 100.0, "worst_is_floor": is_floor})
            for level in verdict.levels
        )
        return attempt if verdict.met else replace(attempt, verdict=verdict.model_copy(update={"levels": levels}))

    findings = analyse(replace(data, attempts=tuple(map(close, data.attempts))))
    told = conclusion(replace(findings, decisive={"a": findings.cells[-1]}))
    assert ("the next cell there would decide" in told) is not is_floor


def test_a_miss_by_several_service_levels_is_no_close_call() -> None:
    levels = [{"percentile": 99, "interval": "10s", "below": bound} for bound in ("100ms", "500ms")]
    data = campaign_of({"a": {1_000: "m", 2_000: "x"}}, service_levels=levels)
    [met, missed] = data.attempts
    close = tuple(
        level.model_copy(update={"met": False, "missed": count, "worst_ms": worst})
        for level, count, worst in zip(missed.verdict.levels, (1, 6), (110.0, 500.0), strict=True)
    )

    def told(levels: tuple[LevelVerdict, ...]) -> str:
        attempt = replace(missed, verdict=missed.verdict.model_copy(update={"levels": levels}))
        findings = analyse(replace(data, attempts=(met, attempt)))
        return conclusion(replace(findings, decisive={"a": findings.cells[-1]}))

    assert "the next cell there would decide" not in told(close)
    kept = close[1].model_copy(update={"met": True, "missed": 0, "worst_ms": 400.0})
    assert "the next cell there would decide" in told((close[0], kept))


def test_an_imported_campaign_says_so_and_what_is_not_known() -> None:
    data = campaign_of({"a": {LOW: "m"}})
    origin = Provenance(source="somebody", files=("a.hdr",), imported_at=data.generated_at)
    findings = analyse(replace(data, attempts=tuple(replace(one, provenance=origin) for one in data.attempts)))
    assert conclusion(findings).endswith("The cells were imported, not run by Plimsoll.")
    assert header_facts(findings)["Kernel"] == "not stated"


def test_the_header_tells_when_and_on_what_it_was_measured(demo: Findings) -> None:
    facts = header_facts(demo)
    assert facts["A cell"] == "90 s, of which 30 s of warm-up"
    starts = [result.verdict.started_at for result in demo.cells if result.verdict]
    ended = max(filter(None, starts)) + demo.data.definition.timing.duration
    assert facts["Measured"].endswith(f", to {moment(ended)}")
    assert "GiB" in facts["Hardware of a node"]
    assert facts["Database"] == "cassandra 4.0.1"
    assert facts["Kernel"] != "not recorded"


def test_an_attempt_that_broke_off_is_not_told_to_have_lasted_as_long_as_a_load(demo: Findings) -> None:
    attempts = tuple(
        replace(one, verdict=one.verdict.model_copy(update={"valid": False})) for one in demo.data.attempts
    )
    starts = [one.verdict.started_at for one in attempts if one.verdict.started_at]
    facts = header_facts(analyse(replace(demo.data, attempts=attempts)))
    assert facts["Measured"] == f"{moment(min(starts))}, to {moment(max(starts))}"
