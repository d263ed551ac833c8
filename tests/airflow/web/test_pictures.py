"""The documentation's pictures of pages can be made from a real campaign's bundle."""

from dataclasses import replace
from pathlib import Path

from tests.airflow.web.pictures import fill_with_real_one
from tests.fakes.installation import Installation
from tests.support.campaigns.stored import store_campaign
from tests.support.campaigns.synthetic import DEMO_CAPACITIES, GENERATED_AT, Plan, demo_definition

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.services.publish.publishing import check_campaign, report_files
from plimsoll.services.publish.results import take_snapshot
from plimsoll.services.store.layout import BUNDLE


def test_a_bundle_fills_a_store_with_the_campaign_and_its_report(tmp_path: Path) -> None:
    plan, bundle = Plan(DEMO_CAPACITIES, saturation_ops_s=4_000.0), tmp_path / "campaign.zip"
    campaign = store_campaign(ObjectStore(str(tmp_path / "a")), demo_definition(), "demo-1", plan, GENERATED_AT)
    check_campaign(replace(Installation(tmp_path).toolkit, store=campaign.store), "demo-1")
    bundle.write_bytes(report_files(take_snapshot(campaign), "demo-1", GENERATED_AT, "documentation")[BUNDLE])
    store = ObjectStore(str(tmp_path / "b"))

    pages = fill_with_real_one(store, bundle)

    assert pages == {
        "matrix": "/plimsoll/campaigns/demo-1",
        "cell": "/plimsoll/campaigns/demo-1/cells/g1-01500-r1",
        "report-page": "/plimsoll/campaigns/demo-1/report",
    }
    assert {"demo-1/definition.yaml", "demo-1/report/report.html"} < set(store.keys("demo-1"))
