"""Stages in a definition: what each has of its own, ids of cells, loads taken from results, and what must not stand."""

from datetime import UTC, datetime, timedelta

import pytest

from plimsoll.domain.campaign.campaign import notes_of_stage
from plimsoll.domain.campaign.cell import AttemptKey
from plimsoll.domain.campaign.grid import cell_ids, cells_by_id, parts_of
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.loads import TakenLoad
from plimsoll.domain.keys.strategy import FullGrid, Ramp, StageLoad, StageStart
from plimsoll.domain.text.errors import DefinitionError
from plimsoll.services.definitions.reference import dump_definition, parse_definition

TOP = """
name: staged
title: Stages
system: {version: 4.0.1}
variants:
- {id: g1, jvm: {jdk: openjdk-11.0.13, collector: G1, heap: 512M}}
- {id: zgc, jvm: {jdk: openjdk-11.0.13, collector: ZGC, heap: 512M}}
loads: [1000/s, 2000/s]
timing: {duration: 20s, warmup: 10s}
"""
STAGES = """
strategy: ramp
stages:
- id: maximum
- id: share
  title: 70 % of the maximum
  strategy: full-grid
  loads: {share: 70%, of: maximum, rounded_to: 100/s}
  repeats: 3
  timing: {duration: 40s, warmup: 10s}
- id: common
  strategy: full-grid
  loads: {slowest_of: maximum}
"""
WORKLOADS = "workloads: [{id: twenty-characters-xy}, {id: kv}]\n"
AT = datetime(2026, 1, 31, 12, tzinfo=UTC)


def parsed(more: str = STAGES) -> Definition:
    return parse_definition(TOP + more, "staged.yaml")


def faults_of(text: str) -> str:
    with pytest.raises(DefinitionError) as caught:
        parsed(text)
    return str(caught.value)


def stage_start(stage: str, **loads: int | None) -> StageStart:
    found = [
        StageLoad(variant=name, load_ops_s=load, maximum_ops_s=load, kind="found" if load else "none")
        for name, load in loads.items()
    ]
    return StageStart(stage=stage, of="maximum", at=AT, loads=tuple(found))


def test_a_stage_has_what_it_says_and_the_rest_from_the_top() -> None:
    maximum, share, common = resolve(parsed()).parts
    assert (maximum.strategy, maximum.loads, maximum.repeats) == (Ramp(), (1000, 2000), 1)
    assert (share.strategy, share.repeats, share.timing.duration) == (FullGrid(), 3, timedelta(seconds=40))
    assert (common.repeats, common.timing) == (1, parsed().timing)


def test_ids_gain_the_stage_and_loads_that_are_not_known_yet_have_a_name_of_their_own() -> None:
    definition = parsed()
    assert list(cells_by_id(resolve(definition))) == ["maximum-g1-001k-r1", "maximum-g1-002k-r1", "maximum-zgc-001k-r1",
                                             "maximum-zgc-002k-r1"]  # fmt: skip
    ids = cell_ids(resolve(definition))
    assert {"share-g1-70pct-r1", "share-zgc-70pct-r3", "common-zgc-slowest-r1"} <= set(ids)
    assert len(ids) == resolve(definition).cells == 4 + 6 + 2


def test_cells_of_an_opened_stage_have_their_variant_s_load_and_the_ids_that_were_told_before() -> None:
    definition = resolve(parsed()).with_stage_starts({"share": stage_start("share", g1=700, zgc=1400)})
    cells = cells_by_id(definition)
    assert (cells["share-g1-70pct-r2"].load_ops_s, cells["share-zgc-70pct-r2"].load_ops_s) == (700, 1400)
    assert set(cell_ids(definition)) == set(cell_ids(resolve(parsed())))
    assert definition.part(cells["share-g1-70pct-r2"].part).loads == (700, 1400)
    assert cells["share-g1-70pct-r2"].ladder == "share-g1"


def test_a_variant_that_carried_nothing_has_no_cells_where_loads_are_taken_from_what_it_carried() -> None:
    definition = resolve(parsed()).with_stage_starts({"share": stage_start("share", g1=700, zgc=None)})
    assert [one for one in cells_by_id(definition) if one.startswith("share-zgc")] == []
    assert definition.cells == len(cell_ids(definition)) == 4 + 3 + 2


def test_workloads_and_stages_make_parts_stage_by_stage() -> None:
    definition = parsed(STAGES + "workloads: [{id: kv}, {id: series}]")
    assert [part.id for part in resolve(definition).parts] == [
        "maximum-kv", "maximum-series", "share-kv", "share-series", "common-kv", "common-series",
    ]  # fmt: skip
    assert "share-g1-kv-70pct-r1" in cell_ids(resolve(definition))
    assert resolve(definition).cells == 2 * (4 + 6 + 2)


def test_one_stage_alone_is_no_part_of_ids() -> None:
    definition = parsed("stages: [{id: only, repeats: 2}]")
    assert "g1-001k-r2" in cells_by_id(resolve(definition))
    assert resolve(definition).stage_ids == ()
    assert [part.id for part in resolve(definition).parts] == [""]


def test_a_definition_without_stages_is_kept_without_the_key() -> None:
    assert "stages" not in dump_definition(parsed(""))
    assert parse_definition(dump_definition(parsed()), "kept") == parsed()


@pytest.mark.parametrize(
    ("taken", "maximum", "load"),
    [
        (TakenLoad(share="70%", of="m"), 1000, 700),
        (TakenLoad(share="70%", of="m", rounded_to="500/s"), 1500, 1000),
        (TakenLoad(share="70%", of="m", rounded_to="1000/s"), 250, 175),
        (TakenLoad(share="1%", of="m"), 10, 1),
        (TakenLoad(slowest_of="m", rounded_to="400/s"), 1000, 800),
    ],
)
def test_loads_are_rounded_down_unless_nothing_would_be_left(taken: TakenLoad, maximum: int, load: int) -> None:
    assert taken.load(maximum) == load


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("{share: 0.7, of: maximum}", {"share": "70%", "of": "maximum"}),
        ("{share: 0.29, of: maximum}", {"share": "29%", "of": "maximum"}),
        ("{share: 1, of: maximum}", {"share": "100%", "of": "maximum"}),
        ("{share: 1.0, of: maximum}", {"share": "100%", "of": "maximum"}),
        ("{slowest: maximum, rounded_to: 10/s}", {"slowest_of": "maximum", "rounded_to": "10/s"}),
    ],
)
def test_a_share_may_be_a_fraction_and_the_slowest_has_another_name(written: str, stored: dict[str, str]) -> None:
    definition = parsed(f"stages: [{{id: maximum, strategy: ramp}}, {{id: then, loads: {written}}}]")
    taken = definition.stages[1].taken
    assert taken is not None
    assert taken.model_dump(mode="json") == stored
    assert parse_definition(dump_definition(definition), "kept") == definition


def test_cells_are_as_long_as_their_own_stage_says() -> None:
    definition = resolve(parsed()).with_stage_starts({"share": stage_start("share", g1=700, zgc=1400)})
    assert [part.timing.duration for part in parts_of(definition, "share-g1-70pct-r1")] == [timedelta(seconds=40)]
    assert [part.timing.duration for part in parts_of(definition, "maximum-g1-001k-r1")] == [timedelta(seconds=20)]
    assert definition.shortest == timedelta(seconds=20)
    assert [stage.load_time.total_seconds() for stage in definition.stages] == [4 * 20, 6 * 40, 2 * 20]


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ("[{id: a, loads: {share: 70%, of: b}}, {id: b}]", "stages[0].loads.of (line 10): 'b' is no stage before"),
        ("[{id: a}, {id: b, loads: {slowest_of: c}}]", "stages[1].loads.slowest_of (line 10): 'c' is no stage before"),
        ("[{id: a}, {id: a}]", "stages[1].id (line 10): stage id 'a' stands 2 times"),
        ("[{id: a}, {id: b, loads: {share: 70%}}]", "stages[1].loads (line 10): does not say one load"),
        (
            "[{id: a}, {id: b, loads: {share: 7, of: a}}]",
            "stages[1].loads.share (line 10): 7 is not a whole percentage",
        ),
        (
            "[{id: a}, {id: b, loads: {slowest_off: a}}]",
            "stages[1].loads.slowest_off (line 10): there is no such key here (did you mean 'slowest_of'?",
        ),
        (
            "[{id: a}, {id: b, loads: {slowest: a, slowest_of: a}}]",
            "stages[1].loads.slowest (line 10): is another name of `slowest_of`, which stands here too (remove it)",
        ),
        ("[{id: a}, {id: b, loads: {slowest: c}}]", "stages[1].loads.slowest_of (line 10): 'c' is no stage before"),
        ("[{id: a}, {id: b, loads: {from: 3k/s, to: 1k/s, step: 1k/s}}]", "stages[1].loads.to (line 10)"),
        ("[{id: a, loads: [1k/s, 1k/s]}]", "stages[0].loads[1] (line 10): load '1000/s' stands 2 times"),
        ("[{id: a, loads: [fast]}]", "stages[0].loads[0] (line 10)"),
        ("[{id: a, timing: {duration: 25s, warmup: 10s}}]", "stages[0].timing (line 10): interval 10s does not divide"),
        ("[{id: a, loads: {from: 1/s, to: 9k/s, step: 1/s}}]", "stages (line 10): all stages together are 18,000"),
        ("[{id: a}, {id: a-g1}, {id: a-g1-g1}]", ""),
    ],
)
def test_what_can_not_be_is_refused_at_its_place(stages: str, message: str) -> None:
    if message:
        assert message in faults_of(f"stages: {stages}")
    else:
        assert parsed(f"stages: {stages}").stages


def test_a_fault_that_several_stages_inherit_is_told_once() -> None:
    text = TOP.replace("duration: 20s", "duration: 25s")
    with pytest.raises(DefinitionError) as caught:
        parse_definition(text + "stages: [{id: a}, {id: b}]", "staged.yaml")
    assert str(caught.value).count("does not divide the judged time") == 1


def test_sliding_windows_from_the_top_are_at_fault_there_although_stages_have_timings_of_their_own() -> None:
    text = TOP + "service_levels: [{windows: sliding}]\n"
    stages = "stages: [{id: a, timing: {duration: 30s, warmup: 10s}}, {id: b}]"
    with pytest.raises(DefinitionError) as caught:
        parse_definition(text + stages, "staged.yaml")
    assert "service_levels[0].windows (line 10): the first service level has sliding windows" in str(caught.value)
    assert str(caught.value).count("has sliding windows") == 1


def test_stages_that_would_have_cells_of_the_same_ids_are_refused() -> None:
    text = TOP.replace("id: zgc", "id: b-g1")
    with pytest.raises(DefinitionError, match="names, a-b-g1-…"):
        parse_definition(text + "stages: [{id: a}, {id: a-b}]", "staged.yaml")


def test_ids_of_cells_that_no_attempt_could_have_are_refused() -> None:
    long = "twenty-characters-xy"
    top = TOP.replace("id: g1,", f"id: {long}-{long[:19]},") + f"workloads: [{{id: {long}}}, {{id: kv}}]\n"
    stages = f"stages: [{{id: {long}}}, {{id: share, loads: {{slowest_of: {long}}}}}]\n"
    with pytest.raises(DefinitionError, match="cells would have ids of up to 93 characters") as caught:
        parse_definition(top + stages, "staged.yaml")
    assert "stages" in str(caught.value)
    assert "at most 80 are allowed" in str(caught.value)
    assert resolve(parse_definition(top, "staged.yaml")).cells == 8


def test_the_longest_id_that_is_allowed_is_one_of_an_attempt() -> None:
    stages = "stages: [{id: maximum-of-all-of-it}, {id: share, loads: {slowest_of: maximum-of-all-of-it}}]\n"
    lengths = range(24, 31)
    accepted: list[int] = []
    for length in lengths:
        try:
            found = parse_definition(TOP.replace("id: g1,", f"id: {'v' * length},") + WORKLOADS + stages, "staged.yaml")
        except DefinitionError:
            continue
        accepted.append(length)
        for cell_id in cell_ids(resolve(found)):
            AttemptKey(campaign_id="mine", cell_id=cell_id, attempt=1)
    assert accepted == list(lengths[: len(accepted)])
    assert 0 < len(accepted) < len(lengths)


def own(**keys: str) -> str:
    """Return a definition without the loads and the timing at the top, but for those given."""
    kept = "\n".join(line for line in TOP.splitlines() if not line.startswith(("loads", "timing")))
    return "\n".join([kept, *(f"{key}: {value}" for key, value in keys.items()), ""])


TIMES = "{duration: 20s, warmup: 10s}"
LENGTH = f"timing: {TIMES}"


def test_what_every_stage_says_for_itself_need_not_stand_at_the_top() -> None:
    stages = f"[{{id: a, loads: [1k/s], {LENGTH}}}, {{id: b, loads: {{slowest_of: a}}, {LENGTH}}}]"
    definition = parse_definition(own(stages=stages), "staged.yaml")
    assert list(cells_by_id(resolve(definition))) == ["a-g1-001k-r1", "a-zgc-001k-r1"]
    assert resolve(definition).cells == 4
    kept = dump_definition(definition)
    assert "\nloads:" not in kept
    assert parse_definition(kept, "kept") == definition


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (own(), ("loads: is missing (write a list", "unless every stage has its own", "timing: is missing")),
        (own(timing=TIMES, stages="[{id: a, loads: [1k/s]}, {id: b}]"), ("loads: is missing",)),
        (own(loads="[1k/s]", stages=f"[{{id: a, {LENGTH}}}, {{id: b}}]"), ("timing: is missing",)),
        (own(loads="[]", timing="{duration: 20s, warmup: 10s}"), ("loads (line 8): must not be empty",)),
        (own(stages=f"[{{id: a, loads: [1k], {LENGTH}}}]"), ("stages[0].loads[0] (line 8)",)),
        (own(stages="[{id: a, loads: [1k/s], timing: {duration: 1s}}]"), ("stages[0].timing.warmup (line 8)",)),
    ],
)
def test_what_neither_the_top_nor_every_stage_says_is_missing(text: str, messages: tuple[str, ...]) -> None:
    with pytest.raises(DefinitionError) as caught:
        parse_definition(text, "staged.yaml")
    assert all(part in str(caught.value) for part in messages), str(caught.value)
    assert str(caught.value).count("\n") == max(1, sum(": is missing" in part for part in messages)), str(caught.value)


@pytest.mark.parametrize(
    "taken", ["{share: 70%, of: maximum}", "{slowest_of: maximum, rounded_to: 10/s}", "{slowest: maximum}"]
)
def test_a_load_that_is_taken_from_a_stage_does_not_stand_at_the_top_and_where_it_belongs_is_told(taken: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        parse_definition(own(loads=taken, timing="{duration: 20s, warmup: 10s}"), "staged.yaml")
    message = str(caught.value)
    assert "loads (line 8): can't be taken from a stage's results here" in message
    assert "put it into the stage that is to run at that load" in message
    assert "from" not in message.replace("taken from", "")


@pytest.mark.parametrize(
    ("share", "mend"),
    [("72.5%", "like 72% or 73%"), ("0.725", "like 72% or 73%"), ("70", "like 70%"), ("1.5", "like 1% or 2%"),
     ("0", "like 70%"), ("0.004", "like 1%"), ("-0.5", "like 70%"), (".nan", "like 70%"), ("true", "like 70%"),
     ("99.9%", "like 99% or 100%"), ("lots", "like 70%"), ("0.2%", "like 1%"), ("250.5%", "like 70%")],
)  # fmt: skip
def test_a_share_that_is_no_whole_percentage_is_told_with_what_to_write(share: str, mend: str) -> None:
    faults = faults_of(f"stages: [{{id: a}}, {{id: b, loads: {{share: {share}, of: a}}}}]")
    assert f"is not a whole percentage {mend}; found" in faults.replace(mend, f"{mend}; found"), faults


def test_advice_about_variants_without_a_maximum_is_given_once_for_all_of_a_stage() -> None:
    definition = parsed(STAGES + "workloads: [{id: kv}, {id: series}]")
    none = [StageLoad(variant=variant, workload=workload, load_ops_s=None, maximum_ops_s=None, kind="none")
            for variant in ("g1", "zgc") for workload in ("kv", "series")]  # fmt: skip
    found = resolve(definition).with_stage_starts(
        {"share": StageStart(stage="share", of="maximum", at=AT, loads=tuple(none))}
    )
    notes = notes_of_stage([part for part in found.parts if part.stage == "share"])
    assert [note.split(" was not")[0] for note in notes if " was not" in note] == [
        "g1 with kv", "zgc with kv", "g1 with series", "zgc with series",
    ]  # fmt: skip
    assert sum("begin a new campaign with lower loads" in note for note in notes) == 1
    assert notes[-1].endswith("begin a new campaign with lower loads in stage maximum.")
    waiting = notes_of_stage([part for part in resolve(definition).parts if part.stage == "share"])
    assert waiting == ("Its loads are 70 % of each variant's maximum: they are known once stage maximum is complete.",)


def test_a_stage_has_those_workloads_that_it_names() -> None:
    definition = parsed(f"{WORKLOADS}stages: [{{id: every}}, {{id: some, workloads: [kv]}}]\n")
    assert [(part.stage, part.workload_id, part.places) for part in resolve(definition).parts] == [
        ("every", "twenty-characters-xy", (0, 0)),
        ("every", "kv", (0, 1)),
        ("some", "kv", (1, 1)),
    ]
    assert [stage.cells for stage in resolve(definition).stages] == [8, 4]
    assert resolve(definition).cells == len(cell_ids(resolve(definition)))
    assert parse_definition(dump_definition(definition), "again.yaml") == definition


@pytest.mark.parametrize(
    ("stages", "fault"),
    [
        ("stages: [{id: a, workloads: [vk]}]", "stages[0].workloads[0] (line 11): 'vk' is none of the `workloads`"),
        (
            "stages: [{id: a, workloads: [kv]}, {id: b, loads: {share: 70%, of: a}}]",
            "the loads come from stage a, which has no 'twenty-characters-xy' (give both stages the same workloads)",
        ),
    ],
)
def test_workloads_that_a_stage_can_not_have_are_refused(stages: str, fault: str) -> None:
    assert fault in faults_of(f"{WORKLOADS}{stages}\n")


def test_a_workload_that_no_stage_has_is_one_of_the_campaign_all_the_same() -> None:
    definition = parsed("workloads: [{id: kv}, {id: series}]\nstages: [{id: only, workloads: [kv]}]")
    assert resolve(definition).workload_ids == ("kv", "series")
