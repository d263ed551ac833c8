"""Campaigns side by side whose variants name their products, releases and settings at other places."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.report.planted import definition, plain

from plimsoll.analysis.campaign.cell_results import CampaignData
from plimsoll.domain.text.errors import Refused
from plimsoll.report.compare.campaigns import compare_campaigns

CASSANDRA = {"product": "cassandra", "version": "4.0.1"}
SCYLLADB = {"product": "scylladb", "version": "4.4.3"}


def plain_of(system: dict[str, Any], **variants: dict[str, Any]) -> CampaignData:
    """Return the plain campaign with another system, and with changed variants."""
    declared = definition()
    changed = tuple(one.model_copy(update=variants.get(one.id, {})) for one in declared.variants)
    of_system = declared.system.model_copy(update=system)
    return replace(plain(2), definition=declared.model_copy(update={"system": of_system, "variants": changed}))


def test_a_variant_that_names_its_product_itself_is_what_the_other_campaigns_system_is() -> None:
    b = plain_of({"database": "scylladb", "version": "4.4.3"}, g1=CASSANDRA, zgc=CASSANDRA)
    found = compare_campaigns(plain(1), b)
    assert (found.incomparable, found.differences) == ((), ())


def test_settings_are_the_same_wherever_they_are_written() -> None:
    of_system = plain_of({"settings": {"num_tokens": 8}})
    own = {"settings": {"num_tokens": 8}}
    found = compare_campaigns(of_system, plain_of({}, g1=own, zgc=own))
    assert (found.incomparable, found.differences) == ((), ())
    other = compare_campaigns(of_system, plain_of({}, g1=own))
    assert [(one.what, one.a, one.b) for one in other.differences] == [
        ("variants.zgc.settings.num_tokens", "8", "(none)")
    ]


def test_a_pair_of_two_products_is_refused_by_name_unless_forced() -> None:
    b = plain_of({}, g1=SCYLLADB)
    with pytest.raises(Refused) as refusal:
        compare_campaigns(plain(1), b)
    [problem] = refusal.value.problems
    assert (problem.where, problem.what) == ("variants.g1.product", "cassandra in A, scylladb in B")
    forced = compare_campaigns(plain(1), b, force=True)
    assert [one.what for one in forced.incomparable] == ["variants.g1.product"]
    assert [one.what for one in forced.differences] == ["variants.g1.version"]


def test_products_of_variants_without_a_counterpart_forbid_nothing() -> None:
    b = plain_of({}, zgc=SCYLLADB)
    apart = tuple(one.model_copy(update={"id": "scylla"}) if one.product else one for one in b.definition.variants)
    b = replace(b, definition=b.definition.model_copy(update={"variants": apart}), attempts=())
    assert compare_campaigns(plain(1), b).incomparable == ()


def test_another_product_of_all_variants_is_named_once() -> None:
    with pytest.raises(Refused) as refusal:
        compare_campaigns(plain(1), plain_of({"database": "scylladb", "version": "4.4.3"}))
    assert [problem.where for problem in refusal.value.problems] == ["variants.*.product"]
