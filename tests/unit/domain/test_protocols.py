"""Options of a workload that only one protocol has."""

from typing import Any

import pytest
from tests.unit.adapters.one_variant import one_variant

from plimsoll.domain.campaign.campaign import Clients, clients_of
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.workload import CqlOptions, HBaseOptions
from plimsoll.domain.text.errors import DefinitionError
from plimsoll.services.definitions.reference import parse_definition

OF_CQL, OF_HBASE = set(CqlOptions.model_fields), set(HBaseOptions.model_fields)
CASSANDRA = {"id": "g1", "product": "cassandra", "version": "4.0.1"}
HBASE = {"id": "hbase", "product": "hbase", "version": "2.6.4"}
TEXT = """
name: d
title: D
system: {{database: {product}, version: '4.0.1', nodes: 3}}
variants: [{{id: one}}]
loads: [1000/s]
workload: {{name: KeyValue, {option}}}
timing: {{duration: 20s, warmup: 10s}}
"""


def defined(*variants: Any, **workload: Any) -> Definition:
    return one_variant(variants=variants, workload={"name": "KeyValue", **workload})


def stored(definition: Definition) -> Any:
    return definition.model_dump(mode="json")["workload"]


@pytest.mark.parametrize(
    ("variants", "options"),
    [((CASSANDRA,), OF_CQL), ((HBASE,), OF_HBASE), ((CASSANDRA, HBASE), OF_CQL | OF_HBASE)],
)
def test_a_definition_is_stored_with_the_options_of_the_protocols_of_its_variants(
    variants: Any, options: set[str]
) -> None:
    definition = defined(*variants)
    assert stored(definition).keys() == {"name"} | options
    assert Definition.model_validate(definition.model_dump(mode="json")) == definition


def test_several_workloads_are_each_stored_with_these_options_alone() -> None:
    definition = one_variant(
        variants=[HBASE], workloads=[{"id": "a", "name": "KeyValue"}, {"id": "b", "name": "YcsbA"}]
    )
    told = definition.model_dump(mode="json")["workloads"]
    assert [one.keys() for one in told] == [{"id", "name"} | OF_HBASE] * 2


@pytest.mark.parametrize(
    ("variant", "option"),
    [(HBASE, "consistency: ONE"), (HBASE, "replication_factor: 1"), (CASSANDRA, "regions: 4")],
)
def test_an_option_of_a_protocol_that_no_clients_speak_is_refused_where_it_stands(variant: Any, option: str) -> None:
    text = TEXT.format(product=variant["product"], option=option)
    with pytest.raises(DefinitionError, match="is an option of another protocol than the clients speak") as refused:
        parse_definition(text, "d.yaml")
    assert f"workload.{option.partition(':')[0]}" in str(refused.value)


def test_replicas_are_counted_where_clients_speak_cql() -> None:
    assert defined(HBASE).system.nodes == 3
    with pytest.raises(ValueError, match="replication_factor 4 needs at least 4 nodes"):
        defined(CASSANDRA, HBASE, replication_factor=4)


def test_clients_are_told_with_each_workload() -> None:
    workloads = [{"id": "a", "name": "KeyValue", "regions": 2}, {"id": "b", "name": "YcsbA", "consistency": "ALL"}]
    told = [
        str(one) for one in clients_of(resolve(one_variant(variants=[CASSANDRA, HBASE], workloads=workloads)).parts)
    ]
    assert told == [
        "clients of cassandra speak cql with a: consistency LOCAL_ONE, replication_factor 3",
        "clients of hbase speak hbase with a: regions 2, block_encoding NONE, compression NONE",
        "clients of cassandra speak cql with b: consistency ALL, replication_factor 3",
        "clients of hbase speak hbase with b: regions 8, block_encoding NONE, compression NONE",
    ]
    assert clients_of(resolve(defined(CASSANDRA)).parts) == ()


def test_clients_without_options_are_told_without_a_colon() -> None:
    told = Clients("command", "a protocol of its own", workload="", options={})
    assert str(told) == "clients of command speak a protocol of its own"
