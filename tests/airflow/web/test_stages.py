"""Pages, JSON and form of a campaign in stages, one of which has no loads yet."""

import pytest
from tests.airflow.web.app import DEFINITION, Client
from tests.airflow.web.markup import page
from tests.fakes.installation import Installation
from tests.support.campaigns.stored import store_every_state
from tests.support.campaigns.synthetic import GENERATED_AT

from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.keys.loads import TakenLoad
from plimsoll.domain.keys.strategy import Stage, StageLoad, StageStart
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll_airflow.dags.campaigns import campaign_doc
from plimsoll_airflow.dags.forms import campaign_params

STAGED = "demo-staged"
HERE = f"/plimsoll/campaigns/{STAGED}"
TAKEN = TakenLoad.model_validate({"share": "70%", "of": "maximum"})
STAGES = (Stage(id="maximum"), Stage(id="share", title="Throughput at 70 %", loads=TAKEN))
DEFINED = DEFINITION.model_copy(update={"stages": STAGES})


@pytest.fixture
def staged(installation: Installation) -> Installation:
    installation.define(DEFINED)
    store_every_state(installation, DEFINED, STAGED)
    return installation


@pytest.mark.usefixtures("staged")
def test_the_matrix_has_rows_for_each_stage_and_says_what_loads_will_be(client: Client) -> None:
    shown = page(client, HERE)
    labels = " ".join(str(label) for label in shown.attributes("a", "aria-label"))

    assert "maximum-v1-001k-r1: met" in labels
    assert "Throughput at 70 %" in shown.text
    assert "Its loads are 70 % of each variant's maximum: they are known once stage maximum is complete." in shown.text
    assert "full-grid, 6 cells at 1,000, 2,000 ops/s" in shown.text
    assert "full-grid, 3 cells at 70 % of maximum" in shown.text
    assert "70pct" not in shown.text  # a stage whose loads are not known has neither rows nor columns
    assert "<div>share</div>" not in client("viewer").get(HERE).text
    assert "stage maximum: " in page(client, f"{HERE}/cells/maximum-v1-001k-r1").text


@pytest.mark.usefixtures("staged")
def test_the_time_left_is_that_of_the_present_round(client: Client) -> None:
    assert "Time left in this round, about" in page(client, HERE).text
    assert "in this round" in page(client, "/plimsoll/").text
    assert client("viewer").get(f"/plimsoll/api/v1/campaigns/{STAGED}").json()["in_rounds"] is True


@pytest.mark.usefixtures("staged")
def test_the_json_names_stages_and_the_campaign_is_not_complete_before_all_are_open(client: Client) -> None:
    status = client("viewer").get(f"/plimsoll/api/v1/campaigns/{STAGED}").json()

    assert [(one["id"], one["level"]) for one in status["stages"]] == [("maximum", ""), ("share", "70pct")]
    assert {cell["stage"] for cell in status["matrix"]} == {"maximum"}
    assert status["state"] != "complete"


def test_a_load_from_an_earlier_stage_is_shown_in_ops_s(staged: Installation, client: Client) -> None:
    campaign = CampaignStore(staged.toolkit.store, STAGED)
    load = StageLoad(variant="v1", load_ops_s=700, maximum_ops_s=1000, kind="found")
    campaign.record_stage_start(StageStart(stage="share", of="maximum", at=GENERATED_AT, loads=(load,)))
    shown = page(client, HERE)
    assert "700 ops/s" in shown.text
    assert "share-v1-70pct-r1: waiting; at 700 ops/s" in shown.attributes("a", "aria-label")
    # The row of v1 in that stage; v2 and v3 have no load there.
    assert client("viewer").get(HERE).text.count("<div>share</div>") == 1


def test_the_form_takes_ids_of_cells_whose_loads_are_not_known_yet() -> None:
    params = campaign_params(resolve(DEFINED))

    assert params["cells"].resolve("share-v1-70pct-r1") == "share-v1-70pct-r1"
    assert params["stages"].resolve(["share"]) == ["share"]
    assert params["loads"].resolve(["70pct"]) == ["70pct"]
    assert "stages" not in campaign_params(resolve(DEFINITION))
    assert "- stage `share`: Throughput at 70 %" in campaign_doc(DEFINED)


def test_a_comparison_shows_capacities_only_of_the_stage_that_asks_for_them(
    staged: Installation, client: Client
) -> None:
    campaign = CampaignStore(staged.toolkit.store, STAGED)
    load = StageLoad(variant="v1", load_ops_s=700, maximum_ops_s=1000, kind="found")
    campaign.record_stage_start(StageStart(stage="share", of="maximum", at=GENERATED_AT, loads=(load,)))
    shown = page(client, f"/plimsoll/compare?a={STAGED}&b={STAGED}").text

    assert ("maximum: Capacity" in shown, "share: Capacity" in shown) == (True, False)
    assert "in A at 700 ops/s (70 % of its maximum) 0 of 1 repeat met, 1 not run" in shown
    assert "share: v1: maxima" in shown
