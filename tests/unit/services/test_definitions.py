from pathlib import Path

import pytest
from tests.support.campaigns.small_definition import SMALL

from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.errors import DefinitionError
from plimsoll.services.definitions.continuing import continued_as
from plimsoll.services.definitions.reference import definition_schema, dump_definition, parse_definition

CAMPAIGNS = Path(__file__).parents[3] / "include" / "campaigns"
DEMO = SMALL.read_text()


@pytest.mark.parametrize("path", sorted(CAMPAIGNS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_definition_parses_and_survives_being_written(path: Path) -> None:
    definition = parse_definition(path.read_text(), path.name)
    assert definition.name == path.stem
    assert parse_definition(dump_definition(definition), "copy") == definition


def test_the_same_text_is_parsed_once_and_a_refused_one_is_refused_each_time() -> None:
    assert parse_definition(DEMO, "demo.yaml") is parse_definition(DEMO, "demo.yaml")
    assert parse_definition(DEMO.replace("repeats: 1", "repeats: 2"), "demo.yaml").repeats == 2
    assert parse_definition(DEMO, "demo.yaml").repeats == 1
    wrong = changed("read_share: 0.2", "read_share: 2")
    assert refused(wrong) == refused(wrong)


def test_the_published_campaign_is_complete() -> None:
    azul = parse_definition((CAMPAIGNS / "azul-2022.yaml").read_text(), "azul-2022.yaml")
    assert [variant.jvm.collector for variant in azul.variants] == ["C4", "G1", "CMS", "Shenandoah", "ZGC"]
    assert azul.loads == tuple(range(20_000, 120_001, 10_000))
    assert {variant.jvm.heap for variant in azul.variants} == {40 * 2**30}
    assert str(azul.service_levels[0]) == "p99.9 of every 10s interval below 100ms"


def refused(text: str) -> str:
    with pytest.raises(DefinitionError) as caught:
        parse_definition(text, "demo.yaml")
    return str(caught.value)


def changed(old: str, new: str) -> str:
    assert old in DEMO
    return DEMO.replace(old, new, 1)


def test_an_unknown_key_is_refused_with_file_line_and_what_is_allowed() -> None:
    message = refused(changed("heap: 512M, f", "heep: 512M, f"))
    assert message.startswith("demo.yaml: refused")
    assert "variants[0].jvm.heep (line " in message
    assert "did you mean 'heap'?" in message
    assert "allowed: jdk, collector, heap, " in message
    assert "variants[0].jvm.heap" in message
    assert "is missing" in message


def test_every_fault_is_told_at_once() -> None:
    text = changed("read_share: 0.2", "read_share: 2").replace("repeats: 1", "repeats: none")
    message = refused(text)
    assert "workload.read_share" in message
    assert "repeats" in message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("id: shenandoah", "id: g1", "variant id 'g1' stands 2 times"),
        ("[100/s, 3000/s]", "[200/s, 200/s]", "load '200/s' stands 2 times"),
        ("duration: 45s", "duration: 10s", "warm-up 15s is not shorter than duration 10s"),
        ("duration: 45s", "duration: 50s", "interval 10s does not divide the judged time 35s"),
        ("below: 100ms", "below: 100ms, windows: sliding", "the first service level has sliding windows"),
        ("replication_factor: 3", "replication_factor: 4", "replication_factor 4 needs at least 4 nodes"),
        (
            "load_generator: {",
            "load_generator: {name: latte, command: {run: x, outputs: [y]}, ",
            "belongs to the load generator `command`, and this is latte",
        ),
        ("control: g1", "control: c4", "control 'c4' is none of the variants (allowed: g1, shenandoah)"),
        ("collector: G1", "collector: G2", "write one of: G1, CMS, Shenandoah, ZGC"),
        ("heap: 512M", "heap: 512", "512 needs a unit"),
        ("heap: 512M", "heap: 512X", "is not a size like 512M or 40G"),
        ("below: 100ms", "below: 100", "needs a unit"),
        ("name: demo", "name: Demo Campaign", "name"),
        ("[100/s, 3000/s]", "[]", "loads"),
        ("[100/s, 3000/s]", "[0/s]", "without a load nothing is measured"),
    ],
)
def test_contradictions_and_wrong_values_are_refused(old: str, new: str, message: str) -> None:
    assert message in refused(changed(old, new))


@pytest.mark.parametrize("text", ["", "just text", "- a\n- b", "a: [", "a: 1\na: 2\n"])
def test_what_is_no_definition_is_refused(text: str) -> None:
    assert "demo.yaml" in refused(text)


def test_load_ranges_include_both_ends() -> None:
    text = changed("[100/s, 3000/s]", "{from: 100/s, to: 300/s, step: 100/s}")
    assert parse_definition(text, "demo.yaml").loads == (100, 200, 300)


def test_the_schema_describes_every_key() -> None:
    schema = definition_schema()
    assert set(schema["properties"]) == set(Definition.model_fields)
    assert schema["additionalProperties"] is False
    assert "from" in str(schema["properties"]["loads"])


def test_a_campaign_goes_on_when_only_the_words_on_it_change() -> None:
    stored = parse_definition(DEMO, "stored")
    row = {"what": "nodes", "published": "5", "here": "3"}
    words = {"description": "Said better.", "published": {"publication": "Somebody (2020)", "rows": [row]}}
    better = Definition.model_validate({**stored.model_dump(mode="json"), **words})
    assert continued_as(stored, better) == better
    assert continued_as(stored, better.model_copy(update={"repeats": 7})) is None
