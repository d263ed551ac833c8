"""Parameters of a definition: values put into its tree, and every fault with its line."""

import json

import pytest

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.parameters import values_line
from plimsoll.domain.text.errors import DefinitionError
from plimsoll.services.definitions.documents import parse_yaml
from plimsoll.services.definitions.reference import dump_definition, parse_definition

PARAMETERS = """\
parameters:
  version: {type: text, default: "5.0.2", description: Release under test}
  rate: {type: number, default: 400, at_least: 100, at_most: 2000}
  collector: {type: choice, of: [ZGC, G1], default: G1}
  times: {type: number, default: 2}
"""
TEXT = f"""\
name: released
title: Release $(version)
{PARAMETERS}system: {{nodes: 3}}
variants:
  - {{id: a, version: $(version), jvm: {{jdk: openjdk-11.0.13, collector: $(collector), heap: 512M}}}}
loads: {{from: 100/s, to: $(rate)/s, step: 100/s}}
repeats: $(times)
timing: {{duration: 20s, warmup: 10s}}
"""


def read(text: str = TEXT, **values: str | int | float) -> Definition:
    return parse_yaml(text, "released.yaml").model(Definition, values)


def refused(right: str, wrong: str) -> list[str]:
    assert right in TEXT
    with pytest.raises(DefinitionError) as caught:
        parse_definition(TEXT.replace(right, wrong, 1), "released.yaml")
    return [str(problem) for problem in caught.value.problems]


def test_a_definition_has_the_defaults_where_nothing_is_given() -> None:
    definition = read()

    assert (definition.title, definition.repeats) == ("Release 5.0.2", 2)
    assert definition.variants[0].version == "5.0.2"
    assert definition.variants[0].jvm
    assert definition.variants[0].jvm.collector == "G1"
    assert definition.loads == (100, 200, 300, 400)


def test_values_replace_references_each_of_its_own_type() -> None:
    definition = read(version="5.0.3", rate=200, times=3)

    assert (definition.title, definition.repeats, definition.loads) == ("Release 5.0.3", 3, (100, 200))
    assert values_line(resolve(definition).parameters) == (
        "version 5.0.3 (default 5.0.2), rate 200 (default 400), collector G1, times 3 (default 2)"
    )


def test_a_campaigns_own_copy_has_the_values_in_place_and_is_read_as_it_is() -> None:
    definition = read(version="5.0.3")
    copy = dump_definition(definition)

    assert "$(" not in copy
    assert parse_definition(copy, "copy") == definition
    assert resolve(parse_definition(copy, "copy")).values["version"] == "5.0.3"


@pytest.mark.parametrize("title", ["$$(version) $$(date)", "$$$(version)"])
def test_text_that_looks_like_a_reference_stays_text_in_a_campaigns_own_copy(title: str) -> None:
    definition = read(TEXT.replace("title: Release", f"title: {title}"))

    assert parse_definition(dump_definition(definition), "copy") == definition


def test_a_reference_in_a_campaigns_own_copy_is_refused() -> None:
    copy = dump_definition(read()).replace("title: Release 5.0.2", "title: $(version)")

    with pytest.raises(DefinitionError, match=r"title \(line \d+\): \$\(version\) has no effect in a campaign's own"):
        parse_definition(copy, "copy")


def test_a_value_is_no_yaml_and_no_reference() -> None:
    odd = "a: [b] $(version)\nc: 1"
    text = TEXT.replace("times: {", f"odd: {{type: choice, of: [{json.dumps(odd)}, z], default: z}}\n  times: {{", 1)
    definition = read(text.replace("title: Release", "title: $(odd)\ndescription: Release", 1), odd=odd)

    assert (definition.title, definition.description) == (odd, "Release 5.0.2")
    assert parse_definition(dump_definition(definition), "copy") == definition


@pytest.mark.parametrize("bound", ["at_least: .nan", "at_most: .inf"])
def test_a_bound_that_bounds_nothing_is_refused(bound: str) -> None:
    (problem,) = refused("{type: number, default: 2}", f"{{type: number, default: 2, {bound}}}")
    assert problem.startswith(f"parameters.times.{bound.partition(':')[0]}")


@pytest.mark.parametrize("title", ["Costs $$(version)", "$$(date) is a command", "$$(cat $$(ls)) $$(", "$$(cat $$(ls"])
def test_two_dollars_stand_for_one(title: str) -> None:
    text = TEXT.replace("title: Release", f"title: {title} and")

    assert read(text).title == f"{title} and 5.0.2".replace("$$", "$")


def test_a_definition_without_parameters_keeps_what_looks_like_a_reference() -> None:
    text = TEXT.replace(PARAMETERS, "description: $(id)\n")
    for reference, value in (("$(version)", "5.0.2"), ("$(collector)", "G1"), ("$(rate)", "400"), ("$(times)", "2")):
        text = text.replace(reference, value)

    assert read(text).description == "$(id)"


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("$(collector)", "$(colector)", "variants[0].jvm.collector (line 10): $(colector) names no parameter (did you"),
        ("repeats: $(times)", "repeats: 2", "parameters.times (line 7): nothing refers to it (write $(times) where"),
        ("default: 400", 'default: "400"', "parameters.rate.default (line 5): must be a number; found '400'"),
        ("default: 400", "default: true", "parameters.rate.default (line 5): must be text or a number"),
        ("default: 400", "default: .inf", "parameters.rate.default (line 5): must be a number; found inf"),
        (
            "default: 400",
            "default: 50",
            "parameters.rate.default (line 5): must be at least 100 and at most 2000; found 50",
        ),
        ('default: "5.0.2"', "default: 5.0", "parameters.version.default (line 4): must be text of letters, digits"),
        ("default: G1", "default: CMS", "parameters.collector.default (line 6): 'CMS' is none of its values (allowed:"),
        ("of: [ZGC, G1], ", "", "parameters.collector.of (line 6): is missing (write the values to choose from"),
        ("type: text", "type: text, of: [a]", "parameters.version.of (line 4): is no key of a text (remove it"),
        ("type: text", "type: text, at_most: 3", "parameters.version.at_most (line 4): is no key of a text"),
        ("type: text", "type: txt", "parameters.version.type (line 4): is none of the values that can stand here"),
        ("default: 2}", "default: 2, value: 3}", "parameters.times.value (line 7): is for a campaign's own copy"),
        (
            "repeats: $(times)",
            "strategy: {name: $(times)}",
            "strategy.name (line 12): is the same for all campaigns of a definition",
        ),
        ("name: released", "name: $(version)", "name (line 1): is the same for all campaigns of a definition"),
        ("repeats: $(times)", "max_parallel: $(times)", "max_parallel (line 12): is the same for all campaigns"),
        (
            "repeats:",
            "finish_by: $(times)h\nrepeats:",
            "finish_by (line 12): may be changed while a campaign runs, and",
        ),
        ("repeats:", "budget: $(times) USD\nrepeats:", "budget (line 12): may be changed while a campaign runs, and"),
        ("repeats:", "at_most: {cost: $(times) USD}\nrepeats:", "at_most.cost (line 12): may be changed while a"),
        ("nodes: 3", "nodes: 3, settings: {$(times): 1}", "system.settings.$(times) (line 8): is a key, and keys"),
        ("repeats:", "workload: {1.5: $(times)}\nrepeats:", "workload.1.5 (line 12): a key must be text"),
        ("repeats:", "workload: {2026-01-01: $(rat)}\nrepeats:", "workload.2026-01-01 (line 12): $(rat) names no para"),
        ("repeats:", "workload: {null: [$(rat)]}\nrepeats:", "workload.None[0] (line 12): $(rat) names no parameter"),
        ("default: 2}", "default: 2000}", "repeats (line 12): must be at most 1000; found 2000"),
    ],
)
def test_a_fault_is_told_with_its_line_and_what_to_write(right: str, wrong: str, message: str) -> None:
    [problem] = [problem for problem in refused(right, wrong) if problem.startswith(message)]

    assert problem.endswith(")"), "it says how to mend it"


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (
            "{type: choice, of: [4.1, 5.0, 5.10], default: 5.10}",
            "parameters.version.of (line 4): variants[0].version must be text; found 5.1, which is a number to YAML "
            "(put its values in quotes, and the default)",
        ),
        (
            '{type: choice, of: ["4.1", "5.10"], default: 5.10}',
            "parameters.version.default (line 4): 5.1 is none of its values (put it in quotes)",
        ),
        (
            "{type: number, default: 5.10}",
            "parameters.version.type (line 4): variants[0].version must be text; found 5.1, which is a number to YAML "
            "(write `type: text`, and its value in quotes)",
        ),
    ],
)
def test_numbers_that_are_meant_as_text_are_told_where_they_stand(declared: str, message: str) -> None:
    assert message in refused('{type: text, default: "5.0.2", description: Release under test}', declared)


ARCHIVE = ", archive: {url: URL, sha256: " + "0" * 64 + "}}\nloads"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:hush/hush@example.org/a.tgz", "https://…@example.org/a.tgz"),
        ("https://example.org/a.tgz?key=hush", "https://example.org/a.tgz?…"),
        ("s3://me:hush@bucket/a.tgz?key=hush", "s3://…@bucket/a.tgz?…"),
    ],
)
def test_a_secret_in_a_url_is_not_repeated(url: str, shown: str) -> None:
    problems = refused("}\nloads", ARCHIVE.replace("URL", url))

    assert any(
        f"variants[0].archive.url (line 10): is not written as it must be; found '{shown}'" in told for told in problems
    )
    assert "hush" not in " ".join(problems)


def test_a_secret_in_a_value_is_not_repeated() -> None:
    problems = refused('default: "5.0.2"', "default: https://me:hush@example.org/a?b")

    assert "found 'https://…@example.org/a?…'" in problems[0]


def test_a_name_is_one_that_can_be_referred_to() -> None:
    problems = refused("  times: {", "  Times-2: {")

    assert problems[1].startswith("parameters.Times-2 (line 7): is no name (begin with a small letter")
