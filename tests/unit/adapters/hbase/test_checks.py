from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.adapters.products.hbase import HBase
from plimsoll.domain.campaign.resolve import product_spec, resolve
from plimsoll.domain.definition.definition import Definition

Define = Callable[..., Definition]


def test_a_definition_that_can_be_run_has_no_problems(product: HBase, define: Define) -> None:
    settings = {"heap.master": "1G", "hbase.regionserver.handler.count": 160, "dfs.replication": 2}
    assert list(product.check(product_spec(resolve(define(variant={"settings": settings})), "hbase"))) == []


@pytest.mark.parametrize(
    ("variant", "where", "what"),
    [
        ({"version": "1.2.12"}, "", "HBase 1.2.12 is not known here"),
        ({"jvm": None}, ".jvm", "HBase runs in a JVM"),
        ({"jvm": {"jdk": "openjdk-21.0.1"}}, ".jvm.jdk", "HBase is not run on JDK 21 here"),
        ({"jvm": {"flag_set": "tlp-2020"}}, ".jvm.flag_set", "one of Cassandra's"),
        ({"jvm": {"heap": "64M"}}, ".jvm.heap", "too small"),
        (
            {"archive": {"url": "s3://builds/hbase.tar.gz", "sha256": "0" * 64}},
            ".archive",
            "would not run: hbase 2.6.4",
        ),
        ({"jvm": {"collector": "C4"}}, ".jvm.collector", "no collector C4"),
        ({"jvm": {"flags": ["-XX:NoSuchFlag"]}}, ".jvm.flags[0]", "Unrecognized VM option"),
        ({"settings": {"heap.regionserver": "1G"}}, ".settings.heap.regionserver", "the variant's own"),
        ({"settings": {"heap.mister": "1G"}}, ".settings.heap.mister", "no process whose heap is a setting"),
        ({"settings": {"heap.master": "much"}}, ".settings.heap.master", "can't start with that heap"),
        ({"settings": {"heap.master": "4M"}}, ".settings.heap.master", "can't start with that heap"),
        ({"settings": {"dfs.replication": 4}}, ".settings.dfs.replication", "4 copies of a block on 3 nodes"),
        ({"settings": {"hbase.rootdir": "x"}}, ".settings.hbase.rootdir", "Plimsoll writes it for each node"),
    ],
)
def test_what_would_keep_a_process_from_starting_is_told(
    product: HBase, define: Define, variant: Any, where: str, what: str
) -> None:
    if variant.get("jvm"):
        variant = {"jvm": {"jdk": "openjdk-11.0.13", "collector": "G1", "heap": "512M", **variant["jvm"]}}
    found = [one for one in product.check(product_spec(resolve(define(variant=variant)), "hbase")) if what in one.what]
    assert [one.where for one in found] == [f"variants[1] (hbase){where}"]


def test_replicas_must_find_nodes(product: HBase, define: Define) -> None:
    [problem] = product.check(product_spec(resolve(define(nodes=2)), "hbase"))
    assert problem.mend == "write 1 to 2, or more `system.nodes`"


def test_heaps_are_settings_of_variants_alone(product: HBase, define: Define) -> None:
    alone = define(database="hbase", version="2.6.4-hadoop3", settings={"heap.master": "1G"}, workload={})
    own = alone.model_copy(update={"variants": alone.variants[1:]})
    assert [one.where for one in product.check(product_spec(resolve(own), "hbase"))] == ["system.settings.heap.master"]
