import re
from pathlib import Path

import pytest

from plimsoll.domain.campaign.campaign import clients_of
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.errors import DefinitionError
from plimsoll.services.imports.description import (
    described_runs,
    parse_description,
    unknown_facts,
)

TEXT = """\
campaign: published-1
source: somebody's data
files: ["{variant}/{load_k}k/r{repeat}/*.hdr-*", "{cell}-{load}.csv"]
environment: {kernel: "5.10"}
runs:
  - variant: zgc
    load: 1500/s
    files: [late/*.hdr]
    environment: {CPU: other}
definition:
  name: published
  title: Published
  system: {version: 4.0.1, nodes: 3}
  variants:
    - {id: g1, jvm: {jdk: openjdk-11.0.13, collector: G1, heap: 40G}}
    - {id: zgc, jvm: {jdk: openjdk-11.0.13, collector: ZGC, heap: 40G}}
  loads: [1500/s, 20000/s]
  workload: {name: BasicTimeSeries, read_share: 0.2}
  timing: {duration: 150m, warmup: 30m}
"""


def test_patterns_name_every_cell_and_runs_single_ones() -> None:
    runs = {one.cell.id: one for one in described_runs(parse_description(TEXT, "x"))}
    assert list(runs) == ["g1-01500-r1", "g1-020k-r1", "zgc-01500-r1", "zgc-020k-r1"]
    assert runs["g1-020k-r1"].patterns == ("g1/20k/r1/*.hdr-*", "g1-020k-r1-20000.csv")
    assert runs["g1-01500-r1"].patterns[0] == "g1/1.5k/r1/*.hdr-*"
    assert (runs["zgc-01500-r1"].patterns, runs["zgc-01500-r1"].required) == (("late/*.hdr",), True)
    assert runs["zgc-01500-r1"].environment == {"kernel": "5.10", "CPU": "other"}
    assert not runs["g1-020k-r1"].required


def test_a_run_may_have_a_unit_of_its_own() -> None:
    text = TEXT.replace("    files: [late", "    unit: us\n    files: [late")
    units = {one.cell.id: one.unit for one in described_runs(parse_description(text, "x"))}
    assert units == {"g1-01500-r1": None, "g1-020k-r1": None, "zgc-01500-r1": "us", "zgc-020k-r1": None}
    others = described_runs(parse_description(f"unit: ms\n{text}", "x"))
    assert [one.unit for one in others] == ["ms", "ms", "us", "ms"]


def test_nothing_can_be_run_with_the_definition_that_the_campaign_keeps() -> None:
    assert parse_description(TEXT, "x").definition.provider.name == "imported"


def test_what_nobody_told_is_unknown_and_a_default_is_told_by_nobody() -> None:
    description = parse_description(TEXT, "x")
    found = unknown_facts(description.definition, {"kernel": "5.10"})
    assert "kernel" not in found
    assert "CPU" in found
    assert "definition: workload.partitions" in found
    assert "definition: load_generator.threads" in found
    assert "definition: workload.read_share" not in found
    assert "definition: system.nodes" not in found


def test_the_examples_in_the_docs_are_some() -> None:
    page = (Path(__file__).parents[3] / "docs" / "guides" / "importing.md").read_text()
    published, postgresql = re.findall(r"```yaml\n(campaign:.*?)```", page, re.DOTALL)
    runs = described_runs(parse_description(published, "importing.md"))
    assert len(runs) == 2 * 11 * 5
    assert [one.cell.id for one in runs if one.required] == ["zgc-020k-r2"]
    assert len(described_runs(parse_description(postgresql, "importing.md"))) == 2 * 2 * 3


OTHER = """\
campaign: other-1
source: somebody's data
files: ["{cell}.csv"]
definition:
  name: other
  title: Another database
  system: {database: redis, version: 7.0.15, nodes: 1}
  variants: [{id: plain}]
  loads: [1500/s]
  workload: {name: GET and SET}
  timing: {duration: 150m, warmup: 30m}
"""


def test_of_another_database_than_plimsoll_knows_nothing_is_claimed_that_only_cql_has() -> None:
    definition = parse_description(OTHER, "x").definition
    kept = definition.model_dump(mode="json")
    assert kept["workload"] == {"name": "GET and SET"}
    assert not [fact for fact in unknown_facts(definition, {}) if "replication" in fact or "consistency" in fact]
    assert clients_of(resolve(definition).parts) == ()
    assert Definition.model_validate(kept) == definition


def test_what_somebody_stated_of_it_all_the_same_is_kept_as_campaigns_of_before_have_it() -> None:
    stated = OTHER.replace("GET and SET", "GET and SET, replication_factor: 1, consistency: ONE")
    kept = parse_description(stated, "x").definition.model_dump(mode="json")
    assert kept["workload"] == {"name": "GET and SET", "replication_factor": 1, "consistency": "ONE"}


@pytest.mark.parametrize("system", ["{version: 4.0.1, nodes: 1}", "{database: scylladb, version: 4.4.3, nodes: 1}"])
def test_of_databases_that_speak_cql_it_must_be_right(system: str) -> None:
    text = OTHER.replace("{database: redis, version: 7.0.15, nodes: 1}", system)
    with pytest.raises(DefinitionError, match="replication_factor 3 needs at least 3 nodes"):
        parse_description(text, "x")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("source: somebody's data\n", "", "source: is missing"),
        ("variant: zgc", "variant: cms", "the definition has no cell cms-01500-r1"),
        (
            'kernel: "5.10"',
            "kernel: 5.10",
            r"kernel \(line 4\): must be text; found 5.10, .*in quotes: \"5.10\"",
        ),
        ("    files: [late/*.hdr]\n", "", r"runs\[0\].files .*is missing"),
        ("campaign: published-1", "campaign: Published 1", r"campaign \(line 1\)"),
        ("environment: {kernel", "enviroment: {kernel", r"enviroment .*allowed: campaign, source, licence"),
        ("heap: 40G}}\n  loads", "heap: lots}}\n  loads", r"definition.variants\[1\].jvm.heap \(line 16\)"),
    ],
)
def test_faults_name_key_line_and_what_is_allowed(old: str, new: str, fault: str) -> None:
    assert old in TEXT
    with pytest.raises(DefinitionError, match=fault):
        parse_description(TEXT.replace(old, new), "x")


def test_a_description_that_names_no_files_is_refused() -> None:
    start, end = TEXT.index("files:"), TEXT.index("definition:")
    with pytest.raises(DefinitionError, match="neither `files` nor `runs`"):
        parse_description(TEXT[:start] + TEXT[end:], "x")


LOADS = "  loads: [1500/s, 20000/s]\n"
STAGED = TEXT.replace(LOADS, f"{LOADS}  stages: [{{id: one}}, {{id: two, LOADS}}]\n")


def test_a_stage_whose_load_is_taken_from_another_is_refused_with_what_to_write() -> None:
    with pytest.raises(DefinitionError) as caught:
        parse_description(STAGED.replace("LOADS", "loads: {share: 70%, of: one}"), "x")
    message = str(caught.value)
    assert "definition.stages[1].loads (line 18): is the load 70 % of one" in message
    assert "write the rates at which the runs of this stage were made" in message
    assert "has no cell" not in message


def test_runs_of_several_stages_are_named_with_their_stage() -> None:
    staged = STAGED.replace("LOADS", "loads: [30k/s]").replace("- variant: zgc", "- stage: one\n    variant: zgc")
    runs = {one.cell.id: one for one in described_runs(parse_description(staged, "x"))}
    assert [name for name, one in runs.items() if one.required] == ["one-zgc-01500-r1"]
    assert "two-g1-030k-r1" in runs


def test_columns_of_a_log_of_operations_are_described_and_checked() -> None:
    text = TEXT.replace(
        "environment: {kernel", "columns: {due: ts_us, latency: took_us, ok: 'rc:0'}\nenvironment: {kernel"
    )
    assert parse_description(text, "x").columns == {"due": "ts_us", "latency": "took_us", "ok": "rc:0"}
    with pytest.raises(DefinitionError, match="did you mean 'latency'"):
        parse_description(text.replace("latency:", "latancy:"), "x")


def test_load_generators_are_told_apart_in_every_pattern_or_in_none() -> None:
    named = TEXT.replace("environment: {kernel", "loaders: [a, b]\nenvironment: {kernel")
    with pytest.raises(DefinitionError) as refused:
        parse_description(named, "x")
    told = [f"{one.where.partition(' (')[0]}: {one.what}" for one in refused.value.problems]
    assert told == [
        f"{key}: has no {{loader}} beside `loaders`" for key in ("files[0]", "files[1]", "runs[0].files[0]")
    ]
    with pytest.raises(DefinitionError, match=r"has .loader. without `loaders`"):
        parse_description(TEXT.replace("{cell}-{load}.csv", "{cell}-{load}-{loader}.csv"), "x")


@pytest.mark.parametrize("named", ["[a, a]", "[a]", "[a, '']", "['*', b]"])
def test_loaders_are_several_plain_names(named: str) -> None:
    text = TEXT.replace("environment: {kernel", f"loaders: {named}\nenvironment: {{kernel")
    text = text.replace(".csv", "{loader}.csv").replace("[late/*.hdr]", "['{loader}.hdr']")
    with pytest.raises(DefinitionError, match="loaders"):
        parse_description(text.replace("/*.hdr-", "/{loader}.hdr-"), "x")
