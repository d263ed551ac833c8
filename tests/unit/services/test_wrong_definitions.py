"""Mistakes that people make in definitions, each with the very message that they get."""

# ruff: noqa: E501 - messages as they are read

import pytest
from tests.support.campaigns.small_definition import SMALL

from plimsoll.domain.definition_keys import MAX_CELLS
from plimsoll.domain.errors import DefinitionError
from plimsoll.services.definitions.text import dump_definition, parse_definition

DEMO = SMALL.read_text()

MISTAKES = (
    (
        "heap: 512M, f",
        "heep: 512M, f",
        [
            "variants[0].jvm.heap (line 21): is missing (write a value like 512M or 40G: heap of each database node, as minimum and maximum)",
            "variants[0].jvm.heep (line 21): there is no such key here (did you mean 'heap'? allowed: jdk, collector, heap, initial_heap, flag_set, flags, archive)",
        ],
    ),
    (
        "version: 4.0.1",
        "version: 4.0",
        ['system.version (line 15): must be text; found 4.0, which is a number to YAML (put it in quotes: "4.0")'],
    ),
    (
        "version: 4.0.1",
        "version: 4.10",
        ['system.version (line 15): must be text; found 4.10, which is a number to YAML (put it in quotes: "4.10")'],
    ),
    (
        "version: 4.0.1",
        "version: four",
        [
            "system.version (line 15): is not written as it must be; found 'four' (write a value like 4.0.1: release of the variants that name no version)"
        ],
    ),
    (
        "collector: G1",
        "collector: g1",
        [
            "variants[0].jvm.collector (line 21): is none of the values that can stand here; found 'g1' (did you mean 'G1'? write one of: G1, CMS, Shenandoah, ZGC, Parallel, Serial, C4: garbage collector. Its flags are added)"
        ],
    ),
    (
        "collector: G1",
        "collector: Shenandoa",
        [
            "variants[0].jvm.collector (line 21): is none of the values that can stand here; found 'Shenandoa' (did you mean 'Shenandoah'? write one of: G1, CMS, Shenandoah, ZGC, Parallel, Serial, C4: garbage collector. Its flags are added)"
        ],
    ),
    (
        "heap: 512M",
        "heap: 512",
        [
            "variants[0].jvm.heap (line 21): 512 needs a unit (write a value like 512M or 40G: heap of each database node, as minimum and maximum)"
        ],
    ),
    (
        "heap: 512M, f",
        "heap: 512M, initial_heap: 1G, f",
        [
            "variants[0].jvm.initial_heap (line 21): 1G is more than `heap`, which is 512M (write at most 512M, or a larger `heap`)"
        ],
    ),
    ("heap: 512M", "heap: 512X", ["variants[0].jvm.heap (line 21): '512X' is not a size like 512M or 40G"]),
    (
        "heap: 512M",
        "heap: [512M]",
        [
            "variants[0].jvm.heap (line 21): what stands here needs a unit (write a value like 512M or 40G: heap of each database node, as minimum and maximum)"
        ],
    ),
    (
        "heap: 512M",
        "heap:",
        [
            "variants[0].jvm.heap (line 21): is missing (write a value like 512M or 40G: heap of each database node, as minimum and maximum)",
            "variants[0].jvm.heap: (line 21): there is no such key here (did you mean 'heap'? allowed: jdk, collector, heap, initial_heap, flag_set, flags, archive)",
        ],
    ),
    (
        "id: g1",
        "id: G1_x",
        [
            "variants[0].id (line 19): is not written as it must be; found 'G1_x' (write lower-case letters, digits and single hyphens, such as `g1-large`: short name: letters, digits and hyphens)"
        ],
    ),
    (
        "id: g1",
        "id: 1",
        ['variants[0].id (line 19): must be text; found 1, which is a number to YAML (put it in quotes: "1")'],
    ),
    (
        "control: g1",
        "control: shenandoa",
        [
            "control (line 25): control 'shenandoa' is none of the variants (did you mean 'shenandoah'? allowed: g1, shenandoah)"
        ],
    ),
    (
        "loads: [100/s, 3000/s]",
        "loads: []",
        [
            "loads (line 28): must not be empty; found [] (write a list, each entry a value like 20000/s or 20k/s: load levels: a list of rates, or `{from, to, step}`. Required unless every stage has its own)"
        ],
    ),
    (
        "loads: [100/s, 3000/s]",
        "loads: 200/s",
        [
            "loads (line 28): must be a list; found '200/s' (write a list, each entry a value like 20000/s or 20k/s: load levels: a list of rates, or `{from, to, step}`. Required unless every stage has its own)"
        ],
    ),
    (
        "loads: [100/s, 3000/s]",
        "loads: [200, 2000/s]",
        ["loads[0] (line 28): 200 needs a unit (write a value like 20000/s or 20k/s)"],
    ),
    (
        "loads: [100/s, 3000/s]",
        "loads: [0/s]",
        ["loads[0] (line 28): must be more than 0; found '0/s' (write a value like 20000/s or 20k/s)"],
    ),
    (
        "loads: [100/s, 3000/s]",
        "loads: {from: 1/s, to: 100M/s, step: 1/s}",
        [
            "loads.step (line 28): 100,000,000 load levels, 1/s apart; at most 5,000 cells are allowed (write a larger step)"
        ],
    ),
    (
        "loads: [100/s, 3000/s]",
        "loads: {from: 1/s, to: 100/s}",
        ["loads.step (line 28): is missing (write a value like 20000/s or 20k/s)"],
    ),
    (
        "loads: [100/s, 3000/s]",
        "loads: {from: 1/s, to: 100/s, stop: 1/s}",
        [
            "loads.step (line 28): is missing (write a value like 20000/s or 20k/s)",
            "loads.stop (line 28): there is no such key here (did you mean 'step'? allowed: from, to, step)",
        ],
    ),
    (
        "loads: [100/s, 3000/s]",
        "loads: {from: 100/s, to: 10/s, step: 1/s}",
        ["loads.to (line 28): 10/s lies below `from`, 100/s (write a higher rate)"],
    ),
    (
        "loads: [100/s, 3000/s]",
        "loads: {from: 20/s, to: 50k/s, step: 20/s}\nrepeats: 20",
        ['line 30: is not YAML: the key "repeats" stands twice (remove one of them)'],
    ),
    (
        "read_share: 0.2",
        "read_share: 2",
        [
            "workload.read_share (line 34): must be at most 1; found 2 (write a number from 0 to 1: share of reads among all operations)"
        ],
    ),
    (
        "read_share: 0.2",
        "read_share: 20%",
        [
            "workload.read_share (line 34): must be a number; found '20%' (write a number from 0 to 1: share of reads among all operations)"
        ],
    ),
    (
        "consistency: LOCAL_ONE",
        "consistency: local_one",
        [
            "workload.consistency (line 37): is none of the values that can stand here; found 'local_one' (did you mean 'LOCAL_ONE'? write one of: ONE, LOCAL_ONE, TWO, QUORUM, LOCAL_QUORUM, ALL: consistency level)"
        ],
    ),
    (
        "partitions: 100k",
        "partitions: lots",
        ["workload.partitions (line 35): 'lots' is not a count like 200000 or 100M"],
    ),
    (
        "partitions: 100k",
        "partitions: 1.5",
        [
            "workload.partitions (line 35): '1.5' is finer than the smallest unit allowed here (write a value like 100M or 200000: number of partition keys)"
        ],
    ),
    (
        "populate: 500",
        "populate: -1",
        [
            "workload.populate (line 36): must be at least 0; found -1 (write a value like 100M or 200000: rows written per thread before the timed run)"
        ],
    ),
    (
        "replication_factor: 3",
        "replication_factor: 5",
        [
            "workload.replication_factor (line 38): replication_factor 5 needs at least 5 nodes; the system has 3 (write at most 3, or more `system.nodes`)"
        ],
    ),
    (
        "repeats: 1",
        "repeats: 1.5",
        [
            "repeats (line 29): must be a whole number; found 1.5 (write a whole number from 1 to 1000: number of times that every variant gets every load)"
        ],
    ),
    (
        "repeats: 1",
        "repeats: many",
        [
            "repeats (line 29): must be a whole number; found 'many' (write a whole number from 1 to 1000: number of times that every variant gets every load)"
        ],
    ),
    (
        "repeats: 1",
        "repeats: 1e400",
        [
            "repeats (line 29): must be a finite number; found 1e400 (write a whole number from 1 to 1000: number of times that every variant gets every load)"
        ],
    ),
    (
        "repeats: 1",
        "repeats: 2000",
        [
            "repeats (line 29): must be at most 1000; found 2000 (write a whole number from 1 to 1000: number of times that every variant gets every load)"
        ],
    ),
    (
        "duration: 45s, warmup: 15s",
        "duration: 45s",
        [
            "timing.warmup (line 40): is missing (write a value like 150m or 100ms: length of the first part of the run, which is not judged)"
        ],
    ),
    (
        "max_parallel: 1",
        "max_parallel: 1\nstrategy: serach",
        ["strategy (line 46): there is no strategy 'serach' (did you mean 'search'? allowed: full-grid, search, ramp)"],
    ),
    (
        "max_parallel: 1",
        "max_parallel: 1\nstrategy: {name: search, mod: fast}",
        [
            "strategy.mod (line 46): there is no such key here (did you mean 'mode'? allowed: name, mode, guard, repeats_at_once)"
        ],
    ),
    (
        "max_parallel: 1",
        "max_parallel: 1\nstrategy: {mode: fast}",
        [
            "strategy.name (line 46): is missing (write a strategy's name beside its keys, such as {name: search, mode: fast})"
        ],
    ),
    (
        "max_parallel: 1",
        "max_parallel: 1\nstrategy: {name: 5}",
        ["strategy.name (line 46): there is no strategy '5' (allowed: full-grid, search, ramp)"],
    ),
    (
        "max_parallel: 1",
        "max_parallel: 1\nstrategy: search\nmode: fast",
        ["mode (line 47): there is no such key here (write it inside `strategy`)"],
    ),
    (
        "max_parallel: 1",
        "max_parallel: 1\nstrategy: {name: search, mode: quick}",
        [
            "strategy.mode (line 46): is none of the values that can stand here; found 'quick' (write one of: exact, fast: `exact` climbs from the lowest load to the first miss and finds the same capacity as the full grid. `fast` bisects with one repeat per load, and assumes that lower loads that it did not run are met)"
        ],
    ),
    (
        "max_parallel: 1",
        "max_parallel: 1\nstrategy: {name: ramp, guard: 1}",
        ["strategy.guard (line 46): there is no such key here (allowed: name, data)"],
    ),
    (
        "below: 100ms",
        "below: 0ms",
        [
            "service_levels[0].below (line 42): must be more than 0 (write a value like 150m or 100ms: bound of the percentile. A value equal to it misses)"
        ],
    ),
    (
        "interval: 10s",
        "interval: 0s",
        [
            "service_levels[0].interval (line 42): must be more than 0 (write a value like 150m or 100ms: length of the windows that are judged one by one)"
        ],
    ),
    (
        "duration: 45s, warmup: 15s",
        "duration: 0s, warmup: 0s",
        [
            "timing.duration (line 40): must be more than 0 (write a value like 150m or 100ms: length of the timed run, with its warm-up)"
        ],
    ),
    (
        "duration: 45s, warmup: 15s",
        "duration: 45s, warmup: 15s, populating: 0s",
        [
            "timing.populating (line 40): must be more than 0 (write a value like 150m or 100ms: longest time that populating may take, with the wait for compactions after it; hosts live as much longer. Without it: an hour, within which hosts are also provisioned, deployed and collected)"
        ],
    ),
    (
        "duration: 45s, warmup: 15s",
        "duration: 10s, warmup: 15s",
        [
            "timing.warmup (line 40): warm-up 15s is not shorter than duration 10s (write less than 10s, or a longer duration)"
        ],
    ),
    (
        "duration: 45s, warmup: 15s",
        "duration: 45, warmup: 15s",
        [
            "timing.duration (line 40): 45 needs a unit (write a value like 150m or 100ms: length of the timed run, with its warm-up)"
        ],
    ),
    (
        "duration: 45s",
        "duration: 45 seconds",
        ["timing.duration (line 40): '45 seconds' is not a duration like 150m, 90s or 100ms"],
    ),
    (
        "interval: 10s",
        "interval: 7s",
        [
            "service_levels[0].interval (line 42): interval 7s does not divide the judged time 30s (duration less warm-up) (change it, or `timing.duration`)"
        ],
    ),
    (
        "percentile: 99.9",
        "percentile: p99",
        [
            "service_levels[0].percentile (line 42): must be a number; found 'p99' (write a number above 0 and up to 100: percentile in per cent, such as 99.9)"
        ],
    ),
    (
        "percentile: 99.9",
        "percentile: 0.999",
        [
            "service_levels[0].percentile (line 42): 0.999 is in per cent: nearly all operations take longer; was 99.9 meant? (write 99.9)"
        ],
    ),
    (
        "percentile: 99.9",
        "percentile: 0",
        [
            "service_levels[0].percentile (line 42): must be more than 0; found 0 (write a number above 0 and up to 100: percentile in per cent, such as 99.9)"
        ],
    ),
    (
        "below: 100ms",
        "bellow: 100ms",
        [
            "service_levels[0].bellow (line 42): there is no such key here (did you mean 'below'? allowed: percentile, interval, below, operations, windows)"
        ],
    ),
    (
        "below: 100ms",
        "below: 100",
        [
            "service_levels[0].below (line 42): 100 needs a unit (write a value like 150m or 100ms: bound of the percentile. A value equal to it misses)"
        ],
    ),
    (
        "service_levels:\n  - {percentile: 99.9, interval: 10s, below: 100ms}",
        "service_levels: {percentile: 99.9}",
        [
            "service_levels (line 41): must be a list; found keys (write a list, each entry keys: percentile, interval, below, operations, windows)"
        ],
    ),
    (
        "provider: {name: local}",
        "provider: local",
        ["provider (line 44): must have keys of its own; found 'local' (write keys: name, options)"],
    ),
    (
        "provider: {name: local}",
        "provider: {nane: local}",
        ["provider.nane (line 44): there is no such key here (did you mean 'name'? allowed: name, options)"],
    ),
    (
        "provider: {name: local}",
        "budget: 100\nprovider: {name: local}",
        [
            "budget (line 44): 100 needs a unit (write a value like 1500 USD: greatest cost of all hosts. A cell that would exceed it does not start)"
        ],
    ),
    (
        "provider: {name: local}",
        "budget: 100 EUR\nprovider: {name: local}",
        ["budget (line 44): '100 EUR' is not an amount like 1500 USD"],
    ),
    (
        "system:\n",
        "systems:\n",
        [
            "system: is missing (write keys: database, version, nodes, start_within, settings)",
            "systems (line 13): there is no such key here (did you mean 'system'? allowed: name, title, description",
        ],
    ),
    (
        "seed: 1",
        "seed: 2020-01-01",
        [
            "seed (line 30): must be a whole number; found 2020-01-01 (write a whole number: seed of the random order of cells within each repeat)"
        ],
    ),
    (
        "title: G1",
        "titel: G1",
        [
            "title: is missing (write text: heading of the report and of the DAG)",
            "titel (line 5): there is no such key here (did you mean 'title'? allowed: name, title, description",
        ],
    ),
    (
        "name: demo",
        "name: Demo Campaign",
        [
            "name (line 4): is not written as it must be; found 'Demo Campaign' (write lower-case letters, digits and single hyphens, such as `g1-large`: name. The DAG has the same name, with underscores)"
        ],
    ),
    (
        "name: demo",
        "name: demo\nname: demo2",
        ['line 5: is not YAML: the key "name" stands twice (remove one of them)'],
    ),
    ("name: demo", "\tname: demo", ["line 4: is not YAML: a tab stands where only blanks may (indent with blanks)"]),
    (
        "name: demo",
        "name: a: b",
        ["line 4: is not YAML: a second `key:` stands on one line (put text with a colon in quotes)"],
    ),
    (
        "name: demo",
        "name: 'demo",
        ["line 10: is not YAML: this line does not belong to what stands above it (check how far it is indented)"],
    ),
    (
        "tags: [cassandra",
        "tags: [[cassandra",
        ["line 13: is not YAML: a bracket is opened and not closed with ], or a comma is missing (mend it)"],
    ),
    (
        "tags: [cassandra, jvm, local, demo]",
        "tags: cassandra",
        [
            "tags (line 11): must be a list; found 'cassandra' (write a list, each entry text: tags of the DAG in Airflow)"
        ],
    ),
    (
        "tags: [cassandra, jvm, local, demo]",
        "tags: [1, 2]",
        [
            'tags[0] (line 11): must be text; found 1, which is a number to YAML (put it in quotes: "1")',
            'tags[1] (line 11): must be text; found 2, which is a number to YAML (put it in quotes: "2")',
        ],
    ),
    (
        "nodes: 3",
        "nodes: three",
        [
            "system.nodes (line 16): must be a whole number; found 'three' (write a whole number from 1 to 1000: number of database nodes of one cluster)"
        ],
    ),
    (
        "nodes: 3",
        "nodes: 3\n  settings: {a: 2020-01-01}",
        [
            'system.settings.a (line 17): must be text; found 2020-01-01, which is a date to YAML (put it in quotes: "2020-01-01")'
        ],
    ),
    (
        "nodes: 3",
        "nodes: 3\n  settings: [a]",
        [
            "system.settings (line 17): must have keys of its own (write keys with values: settings of the database, which replace the adapter's own)"
        ],
    ),
    (
        "nodes: 3",
        "nodes: 0",
        [
            "system.nodes (line 16): must be at least 1; found 0 (write a whole number from 1 to 1000: number of database nodes of one cluster)"
        ],
    ),
    (
        "nodes: 3",
        "nodes: true",
        [
            "system.nodes (line 16): must be a whole number; found true (write a whole number from 1 to 1000: number of database nodes of one cluster)"
        ],
    ),
    (
        "repeats: 1",
        "repeats: true",
        [
            "repeats (line 29): must be a whole number; found true (write a whole number from 1 to 1000: number of times that every variant gets every load)"
        ],
    ),
    (
        "percentile: 99.9",
        "percentile: true",
        [
            "service_levels[0].percentile (line 42): must be a number; found true (write a number above 0 and up to 100: percentile in per cent, such as 99.9)"
        ],
    ),
    (
        "id: shenandoah",
        "id: g1",
        ["variants[1].id (line 22): variant id 'g1' stands 2 times; each must be unique (change or remove one)"],
    ),
    (
        "flags: [-XX:TieredStopAtLevel=1]}\n  - id: s",
        "flags: -XX:TieredStopAtLevel=1}\n  - id: s",
        [
            "variants[0].jvm.flags (line 21): must be a list; found '-XX:TieredStopAtLevel=1' (write a list, each entry text: further JVM flags, after the collector's own)"
        ],
    ),
    (
        "max_parallel: 1",
        "max_parallel: 1\nschedule: [1]\nnotify: [incompleet]",
        [
            "schedule (line 46): must be text (write text: cron expression. Without it the campaign starts only by hand or by REST)",
            "notify[0] (line 47): is none of the values that can stand here; found 'incompleet' (did you mean 'incomplete'? write one of: missed-schedule, incomplete)",
        ],
    ),
    (
        "jdk: openjdk-11.0.13",
        "jdk: 11",
        [
            "variants[0].jvm.jdk (line 21): must be text; found 11, which is a number to YAML (write a value like openjdk-11.0.13 or prime-11.0.13: distribution and version of the JDK)"
        ],
    ),
    (
        "jdk: openjdk-11.0.13",
        "jdk: OpenJDK 11",
        [
            "variants[0].jvm.jdk (line 21): is not written as it must be; found 'OpenJDK 11' (write a value like openjdk-11.0.13 or prime-11.0.13: distribution and version of the JDK)"
        ],
    ),
    (
        "seed: 1",
        "seed: !!int foo",
        ["the whole file: is not YAML: a value does not fit its tag (remove tags such as `!!int`)"],
    ),
    ("seed: 1", "1: 2", ["[1] (line 30): a key must be text (put it in quotes)"]),
    ("seed: 1", "? [a]\n: b", ["('a',): a key must be text (put it in quotes)"]),
    (
        "seed: 1",
        "canary: {node: {disk: 3}}",
        [
            "canary.node.disk (line 30): there is no such key here (did you mean 'disk_read'? allowed: cpu, disk_write, disk_read, network)"
        ],
    ),
    (
        "seed: 1",
        "max_cells: lots",
        [
            "max_cells (line 30): must be a whole number; found 'lots' (write a whole number from 1 to 500000: greatest number of cells that the campaign may have. A larger campaign must raise it)"
        ],
    ),
)


def refused(text: str) -> list[str]:
    with pytest.raises(DefinitionError) as caught:
        parse_definition(text, "demo.yaml")
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(("right", "wrong", "said"), MISTAKES)
def test_a_mistake_is_told_with_its_key_its_line_and_what_to_write(right: str, wrong: str, said: str) -> None:
    assert right in DEMO
    found = refused(DEMO.replace(right, wrong, 1))
    assert len(found) == len(said)
    for problem, start in zip(found, said, strict=True):
        assert problem.startswith(start)
        assert "validat" not in problem
        assert "should" not in problem  # as pydantic says it


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the whole file: is empty (write at least the keys name, title, system, variants, loads, timing)"),
        ("just text", "the whole file: is no mapping of keys to values"),
        ("a: " + "[" * 100_000, "line 1: nests deeper than 50 levels"),
        ("a: " + "[" * 60 + "]" * 60, "line 1: nests deeper than 50 levels"),
        ("\n".join(" " * depth + "a:" for depth in range(100)), "line 50: nests deeper than 50 levels"),
        (LAUGHS, "line 7: its aliases stand for more than 1,000,000 values"),
        ("a: &a [*a]", "line 1: an alias stands inside of what it stands for"),
        ("a: 1\n---\nb: 1", "line 2: is not YAML: a second document begins here"),
        ("- a\nb: 1", "line 2: is not YAML: this line does not belong to what stands above it"),
        ("a: \0", "the whole file: is not YAML: a character stands in it that no text has"),
        ("a: *b", "line 1: is not YAML: the alias *b names no anchor (write &b at the value that it stands for)"),
    ],
)
def test_what_is_no_definition_at_all_is_told_in_words(text: str, said: str) -> None:
    (problem,) = refused(text)
    assert problem.startswith(said)


def test_a_number_larger_than_any_program_keeps_is_refused() -> None:
    (problem,) = refused(DEMO.replace("duration: 45s", f"duration: {'9' * 400}s"))
    assert problem.startswith(f"timing.duration (line 40): '{'9' * 40}…' is too large: the largest is 9223372036854s")


def test_a_misspelt_key_that_another_section_has_may_be_either() -> None:
    found = refused(DEMO.replace("loads: [", "load: ["))
    (advice,) = (one for one in found if one.startswith("load (line"))
    assert advice.endswith("there is no such key here (did you mean 'loads'? or write it inside `canary`)")


def test_the_advice_for_a_heap_shows_how_to_write_one() -> None:
    (problem,) = refused(DEMO.replace("concurrency: 50, heap: 256M", "concurrency: 50, heap: lots"))
    assert "found 'lots' (write a value like 512M or 2G: heap of the generator's own JVM)" in problem


def test_variants_of_one_id_are_named_once_where_the_control_is_none_of_them() -> None:
    found = refused(DEMO.replace("id: shenandoah", "id: g1").replace("control: g1", "control: g3"))
    assert next(one for one in found if one.startswith("control")).endswith("is none of the variants (allowed: g1)")


def test_a_grid_may_be_as_large_as_its_definition_says() -> None:
    big = DEMO.replace("[100/s, 3000/s]", "{from: 1/s, to: 4k/s, step: 1/s}")
    assert refused(big)[0].startswith(
        f"loads (line 28): 2 variants × 4,000 loads × 1 repeat are 8,000 cells; at most {MAX_CELLS:,} are allowed "
        "(write fewer loads, variants or repeats, or `max_cells: 8000` if that is meant)"
    )
    assert parse_definition(f"{big}max_cells: 8000\n", "demo.yaml").cells == 8000


def test_a_campaign_that_was_begun_before_there_was_a_limit_stays_readable() -> None:
    loads = f"[{', '.join(f'{rate}/s' for rate in range(1, 2502))}]"
    old = DEMO.replace("[100/s, 3000/s]", loads)
    assert refused(old)
    assert parse_definition(old, "stored", stored=True).cells == 5002


def test_a_campaign_that_was_begun_with_a_share_for_a_percentile_stays_readable() -> None:
    old = DEMO.replace("percentile: 99.9", "percentile: 0.999")
    assert refused(old)
    assert parse_definition(old, "stored", stored=True).service_levels[0].percentile == 0.999


def test_a_share_for_a_percentile_is_told_at_the_stage_that_has_it() -> None:
    stages = "stages:\n  - {id: one, service_levels: [{percentile: 0.5}]}\n  - {id: two}\n"
    assert refused(DEMO + stages) == [
        "stages[0].service_levels[0].percentile (line 47): 0.5 is in per cent: nearly all operations take longer; "
        "was 50 meant? (write 50)"
    ]


def test_a_copy_of_a_definition_keeps_its_limit() -> None:
    text = DEMO.replace("repeats: 1", "max_cells: 7")
    assert "max_cells: 7" in dump_definition(parse_definition(text, "demo.yaml"))
