"""Where facts vary: nowhere, by variant, by host, or within a variant, which should not be."""

from collections.abc import Mapping

from plimsoll.analysis.campaign.definition_differences import differing
from plimsoll.analysis.campaign.host_facts import ABSENT, ComparedFacts, Deviation, HostReport, compare_facts


def reports(values: Mapping[tuple[str, str], str | None], *, role: str = "node") -> list[HostReport]:
    """Return one fact on hosts by (cell, host), None where not reported; a cell's id begins with its variant."""
    return [
        HostReport(cell[0], cell, host, role, {} if value is None else {"fact": value})
        for (cell, host), value in values.items()
    ]


def compared(values: Mapping[tuple[str, str], str | None]) -> ComparedFacts:
    return compare_facts(reports(values))


def test_a_fact_with_one_value_is_equal_and_roles_are_compared_apart() -> None:
    nodes, load = reports({("a1", "n1"): "x", ("b1", "n1"): "x"}), reports({("a1", "load"): "y"}, role="load")
    assert compare_facts(nodes).equal == {"fact": "x"}
    assert compare_facts([*nodes, *load]).deviations == ()


def test_a_fact_may_follow_the_variant_or_the_host() -> None:
    by_variant = {("a1", "n1"): "x", ("a1", "n2"): "x", ("b1", "n1"): "y", ("b1", "n2"): "y"}
    by_host = {("a1", "n1"): "x", ("a1", "n2"): "y", ("b1", "n1"): "x", ("b1", "n2"): "y"}
    assert compared(by_variant).by_variant == {"fact": {"a": "x", "b": "y"}}
    assert compared(by_host).by_host == {"fact": {"x": ("n1",), "y": ("n2",)}}


def test_a_fact_that_names_each_host_is_its_own() -> None:
    assert compared({("a1", "n1"): "1", ("a1", "n2"): "2", ("a2", "n1"): "3"}).own_everywhere == ("fact",)


def test_the_most_frequent_value_is_usual_and_others_deviate_with_their_places() -> None:
    values: dict[tuple[str, str], str | None] = {(f"a{cell}", f"n{host}"): "x" for cell in "123" for host in "12"}
    found = compared({**values, ("a2", "n2"): "y", ("a3", "n1"): None, ("a3", "n2"): None})
    assert found.deviations == (Deviation("fact", {"a": "x"}, {ABSENT: ("a3",), "y": ("a2 (n2)",)}),)


def test_two_sets_of_facts_are_unlike_where_values_differ_or_one_is_absent() -> None:
    found = differing({"same": "1", "other": "2", "gone": "3"}, {"same": "1", "other": "4", "new": "5"})
    assert [(one.what, one.a, one.b) for one in found] == [
        ("other", "2", "4"),
        ("gone", "3", "(none)"),
        ("new", "(none)", "5"),
    ]


def test_a_fact_that_only_some_variants_have_is_told_of_these_alone() -> None:
    of_all = reports({("a", "n1"): "x", ("b", "n1"): "x"})
    servers = [HostReport("a", "a", host, "server", {"heap": "8G"}) for host in ("n1", "n2")]
    found = compare_facts([*of_all, *servers])
    assert (found.equal, found.by_variant, found.deviations) == ({"fact": "x"}, {"heap": {"a": "8G"}}, ())


def test_a_process_of_the_first_host_alone_is_compared_with_its_like() -> None:
    masters = [HostReport("a", cell, "n1", "master", {"heap": heap}) for cell, heap in (("a1", "1G"), ("a2", "2G"))]
    others = [HostReport("a", cell, "n2", "node", {"fact": "x"}) for cell in ("a1", "a2")]
    [deviation] = compare_facts([*masters, *others, HostReport("a", "a3", "n1", "master", {"heap": "1G"})]).deviations
    assert (deviation.fact, deviation.others) == ("heap", {"2G": ("a2",)})
