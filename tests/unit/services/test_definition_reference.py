import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML
from tests.fakes.installation import instant_definition
from typer.testing import CliRunner

from plimsoll.adapters.generators.plimsoll_stress.catalogue import own_statement_tables
from plimsoll.cli import cli
from plimsoll.domain.text.errors import DefinitionError, Refused
from plimsoll.domain.text.units import parse_duration
from plimsoll.services.definitions.reference import (
    definition_reference,
    definition_schema,
    dump_definition,
    examples,
    parse_definition,
)

ROOT = Path(__file__).parents[3]
SHOWN = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "reference" / "definition.md").read_text(), re.DOTALL)


def test_the_reference_in_docs_is_what_the_schema_says() -> None:
    assert (ROOT / "docs" / "reference" / "definition.md").read_text() == definition_reference(
        own_statement_tables()
    ), "make it again: plimsoll schema --markdown > docs/reference/definition.md"


def test_the_schema_beside_the_definitions_is_the_model_s() -> None:
    stored = json.loads((ROOT / "include" / "campaigns" / "definition.schema.json").read_text())
    assert stored == json.loads(json.dumps(definition_schema())), (
        "make it again: plimsoll schema > include/campaigns/definition.schema.json"
    )


def test_the_reference_begins_with_its_examples_and_ends_with_own_statements() -> None:
    headings = re.findall(r"^## (.*)$", (ROOT / "docs" / "reference" / "definition.md").read_text(), re.MULTILINE)
    assert (headings[0], headings[1], headings[-1]) == ("Four examples", "Definition", "cql")
    assert len(SHOWN) == 4
    keys = {heading: {row[0] for row in rows} for heading, rows in own_statement_tables().items()}
    assert {"schema", "operations", "rows", "population"} <= keys["keys of cql"]
    assert {"name", "share", "statement", "bind"} <= keys["operation"]
    assert {"distribution", "as"} <= keys["bind"]
    assert {"sequence", "uniform", "zipfian", "now"} <= keys["distributions"]


SHIPPED = [path.read_text() for path in sorted((ROOT / "include" / "campaigns").glob("*.yaml"))]


@pytest.mark.parametrize("text", [*SHOWN, *SHIPPED])
def test_the_schema_accepts_every_example_and_every_shipped_definition(text: str) -> None:
    jsonschema.validate(YAML(typ="safe", pure=True).load(text), definition_schema())


@pytest.mark.parametrize(
    ("right", "wrong", "accepted"),
    [
        ("5.0.2, jvm", "$(version), jvm", True),
        ("nodes: 3", "nodes: $(nodes)", True),
        ("heap: 512M", "heap: $(heap)M", True),
        ("collector: G1", "collector: $(collector)", True),
        ("repeats: 1", "repeats: $(times)", True),
        ("[100/s]", "[$(rate)/s]", True),
        ("[100/s]", "$(loads)", True),
        ("repeats: 1", "repeats: many", False),
        ("collector: G1", "collector: (G1)", False),
        ("repeats: 1", "max_parallel: $(times)", False),
        ("repeats: 1", "strategy: $(strategy)", False),
        ("repeats: 1", "trigger: {asset: $(asset)}", False),
        ("repeats: 1", "at_most: {cell: $(time)}", False),
        ("repeats: 1", "stages: [{id: a, strategy: $(strategy)}]", False),
        ("repeats: 1", "stages: [{id: a, strategy: {name: ramp, data: $(data)}}]", True),
        ("repeats: 1", "stages: [{id: a, title: $(title)}]", True),
        ("repeats: 1", "parameters: {a: {type: $(b), default: 1}}", False),
    ],
)
def test_the_schema_accepts_references_where_a_definition_may_have_them(right: str, wrong: str, accepted: bool) -> None:
    text = (
        "{name: a, title: A, system: {nodes: 3}, repeats: 1, loads: [100/s], timing: {duration: 2m, warmup: 1m}, "
        "variants: [{id: a, version: 5.0.2, jvm: {jdk: openjdk-11.0.13, collector: G1, heap: 512M}}]}"
    )
    assert right in text
    definition = YAML(typ="safe", pure=True).load(text.replace(right, wrong))
    assert jsonschema.Draft202012Validator(definition_schema()).is_valid(definition) is accepted


@pytest.mark.parametrize("text", SHOWN)
def test_every_example_of_the_reference_can_be_planned(text: str, tmp_path: Path) -> None:
    (tmp_path / "example.yaml").write_text(text)
    result = CliRunner().invoke(cli, ["plan", str(tmp_path / "example.yaml"), "--json"])
    if isinstance(result.exception, Refused):
        # Whether a release was fetched before is no matter of the example.
        assert [one for one in result.exception.problems if "plimsoll prepare" not in one.mend] == []
        return
    assert (result.exception, result.exit_code) == (None, 0)
    planned = json.loads(result.stdout)
    assert planned["problems"] == []
    assert not any("is decided by fewer than" in note for note in planned["notes"])


def test_the_examples_are_a_published_shape_own_statements_two_stages_and_parameters() -> None:
    shape, statements, stages, released = (parse_definition(text, "example") for text in examples())
    assert shape.published is not None
    assert (len(shape.variants), len(shape.loads), shape.repeats) == (2, 3, 3)
    assert statements.workload.name == "cql"
    assert len(stages.stages) == 2
    assert released.parameters
    assert released.trigger


@pytest.mark.parametrize(
    ("trigger", "error"),
    [
        ("{asset: builds, queue: {url: 'https://sqs.eu-west-1.amazonaws.com/123456789012/builds.fifo'}}", ""),
        ("{asset: builds, queue: {url: 'arn:aws:sqs:eu-west-1:123456789012:builds'}}", "trigger.queue.url"),
        ("{asset: builds, queue: {url: 'https://me:secret@host/1/builds'}}", "trigger.queue.url"),
        ("{asset: builds, queue: {url: 'https://host/1/builds', connection: ''}}", "trigger.queue.connection"),
        ("{asset: report-x, queue: {url: 'https://host/1/builds'}}", "is named like an asset of reports"),
    ],
)
def test_a_queue_is_named_by_its_url_and_its_asset_is_none_of_reports(trigger: str, error: str) -> None:
    text = dump_definition(instant_definition()) + f"trigger: {trigger}\n"
    if not error:
        parsed = parse_definition(text, "instant.yaml").trigger
        assert parsed
        assert parsed.queue
        assert parsed.queue.connection == "aws_default"
        return
    with pytest.raises(DefinitionError) as caught:
        parse_definition(text, "instant.yaml")
    assert error in str(caught.value)


def nodes(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every mapping in the schema, outermost first."""
    if isinstance(schema, dict):
        yield schema
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    for one in inner:
        yield from nodes(one)


def test_every_default_is_written_as_its_own_schema_asks() -> None:
    written = [
        (one["default"], one["anyOf"][0])
        for one in nodes(definition_schema())
        if one.get("default") is not None and "pattern" in one.get("anyOf", [{}])[0]
    ]
    assert {"10s", "100ms", "90%"} <= {default for default, _ in written}
    assert [default for default, own in written if not jsonschema.Draft202012Validator(own).is_valid(default)] == []


@pytest.mark.parametrize(
    ("model", "key", "limit"),
    [("", "wait_for_calm", "30m"), ("System", "start_within", "25m"), ("StopRule", "within", "10m")],
)
def test_a_time_that_has_a_limit_tells_it_and_has_examples_within_it(model: str, key: str, limit: str) -> None:
    schema = definition_schema()
    own = (schema["$defs"][model] if model else schema)["properties"][key]
    assert f"at most {limit}" in own["description"]
    within = [
        parse_duration(example) <= parse_duration(limit) for one in nodes(own) for example in one.get("examples", ())
    ]
    assert within
    assert all(within)


def test_a_percentile_that_the_parser_takes_for_a_share_is_refused_by_the_schema() -> None:
    percentile = definition_schema()["$defs"]["ServiceLevel"]["properties"]["percentile"]
    own = jsonschema.Draft202012Validator(percentile["anyOf"][0])
    assert [own.is_valid(value) for value in (0.5, 1, 99.9, 100)] == [False, True, True, True]
