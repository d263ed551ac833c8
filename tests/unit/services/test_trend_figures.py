"""What a campaign contributes to trends is recorded when it is published, and not read when it is stale."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.fakes.installation import Installation, instant_definition
from tests.support.campaigns.one_cell import run_cell
from tests.support.campaigns.stored import store_campaign
from tests.support.campaigns.synthetic import Plan, demo_definition

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.domain.text.errors import NotFound, StoreError
from plimsoll.ports.store import ResultStore
from plimsoll.report.trend.document import TrendDocument
from plimsoll.services.campaign.curating import delete_campaign
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.judge.attempt_judging import judge
from plimsoll.services.publish.publishing import publish_report
from plimsoll.services.publish.results import take_snapshot
from plimsoll.services.publish.trends import FIGURES, GATHERED, Known, record_figures, stored_trend
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore, StoredCampaign
from plimsoll.services.store.judged import keep_verdict, unmark_in_trends
from plimsoll.services.store.listing import campaigns_by_definition, note_definition

AT = datetime(2026, 1, 31, tzinfo=UTC)
CAPACITIES = {"g1": 200, "shenandoah": 1_500}
NAMES = ("demo-a", "demo-b")


class CountingStore(ObjectStore):
    """A store that remembers what was read."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.was_read: list[str] = []

    def read(self, key: str) -> bytes:
        self.was_read.append(key)
        return super().read(key)


@pytest.fixture
def store(tmp_path: Path) -> CountingStore:
    """Provide a store of two campaigns that are alike, and one of another definition."""
    store = CountingStore(str(tmp_path))
    for seed, name in enumerate(NAMES):
        plan = Plan(CAPACITIES, saturation_ops_s=4_000.0, seed=seed)
        store_campaign(store, demo_definition(), name, plan, AT + timedelta(days=seed))
    store_campaign(store, demo_definition(name="other"), "other-1", Plan(CAPACITIES, not_run=()), AT)
    return store


def trend(store: ResultStore, name: str = "demo") -> TrendDocument:
    return stored_trend(store, [name], "date", AT)


def record(store: ObjectStore, *names: str) -> None:
    for name in names:
        campaign = CampaignStore(store, name)
        record_figures(campaign, campaign, campaign.verdict_names(), AT)


def ids(found: TrendDocument) -> list[str]:
    return [one.campaign_id for one in found.campaigns]


def test_of_recorded_campaigns_one_small_file_each_is_read_and_then_one_of_all(store: CountingStore) -> None:
    computed = trend(store)
    record(store, *NAMES)
    store.delete(".gathered")
    store.was_read.clear()
    assert trend(store) == computed
    assert set(store.was_read) == {GATHERED.key("", "demo"), *map(FIGURES.key, NAMES)}
    store.was_read.clear()
    assert trend(store) == computed
    assert store.was_read == [GATHERED.key("", "demo")]


def rejudge(store: ObjectStore) -> None:
    campaign = CampaignStore(store, "demo-b")
    verdict = next(campaign.verdicts())
    layout.EARLIER_VERDICT.write(store, verdict.key, verdict, 1)
    slower = tuple(one.model_copy(update={"worst_ms": 1.0}) for one in verdict.levels)
    layout.VERDICT.write(store, verdict.key, verdict.model_copy(update={"levels": slower}))


def relabel(store: ObjectStore) -> None:
    CampaignStore(store, "demo-b").open(demo_definition().model_copy(update={"label": "build 7"}))


def begin_at(store: ObjectStore, campaign_id: str) -> None:
    campaign = CampaignStore(store, campaign_id)
    (key, *_) = campaign.all_attempts()
    store.delete(layout.ATTEMPTS.key(campaign_id, key.cell_id, key.attempt))
    campaign.begin_attempt(key.cell_id, "ada", AT, "0.1.0")


def begin(store: ObjectStore) -> None:
    begin_at(store, "demo-b")


def damage(store: ObjectStore) -> None:
    store.write(FIGURES.key("demo-b"), b"{")


def make_older(store: ObjectStore) -> None:
    made = FIGURES.read(store, "demo-b")
    assert made is not None
    campaign = made.campaign.model_copy(update={"label": "of an older revision"})
    FIGURES.write(store, "demo-b", made.model_copy(update={"revision": 0, "campaign": campaign}))


def publish(store: ObjectStore) -> None:
    """As the gate does, before the report is published."""
    unmark_in_trends(store, "demo-b")
    record(store, "demo-b")


def void(store: ObjectStore) -> None:
    unmark_in_trends(store, "demo-b")


@pytest.mark.parametrize("change", [begin, relabel, publish, void])
def test_after_a_change_that_campaign_alone_is_read(
    store: CountingStore, change: Callable[[ObjectStore], None]
) -> None:
    trend(store)
    change(store)
    store.was_read.clear()
    found = trend(store)
    assert not any(key.startswith("demo-a/") for key in store.was_read)
    assert FIGURES.key("demo-b") in store.was_read
    store.delete(".gathered")
    assert trend(store) == found


def test_what_takes_no_part_is_gathered_with_the_reason_until_it_changes(store: CountingStore) -> None:
    plan = Plan(CAPACITIES, not_run=("g1-00200-r1",))
    store_campaign(store, demo_definition(name="third"), "third-1", plan, AT)
    (left_out,) = trend(store, "third").left_out
    store.was_read.clear()
    assert trend(store, "third").left_out == (left_out,)
    assert store.was_read == [GATHERED.key("", "third")]
    begin_at(store, "third-1")
    store.was_read.clear()
    trend(store, "third")
    assert any(key.startswith("third-1/") for key in store.was_read)


class ChangingStore(CountingStore):
    """A store in which somebody changes a campaign just after a trend has read it."""

    def __init__(self, root: str, change: Callable[[ObjectStore], None]) -> None:
        super().__init__(root)
        self._change = change

    def write(self, key: str, data: bytes) -> None:
        if key == GATHERED.key("", "demo"):
            self._change(ObjectStore(self.root))
        super().write(key, data)


def judge_again(store: ObjectStore) -> None:
    """As `judge` does, in whose midst the trend has read the earlier verdict and recorded what it computed of it."""
    rejudge(store)
    unmark_in_trends(store, "demo-b")


@pytest.mark.parametrize("change", [judge_again, begin, relabel])
def test_nothing_counts_of_a_campaign_that_changes_while_a_trend_reads_it(
    store: CountingStore, change: Callable[[ObjectStore], None]
) -> None:
    trend(ChangingStore(store.root, change))
    assert list(Known.of(store, ["demo"]).entries) == ["demo-a"]
    found = trend(store)
    store.delete(".gathered")
    assert trend(store) == found


def test_a_trend_that_was_killed_leaves_tokens_that_count_for_nothing_and_go(store: CountingStore) -> None:
    for name in NAMES:
        Known.of(store, ["demo"]).begin_look(store, name)
    assert Known.of(store, ["demo"]).entries == {}
    trend(store)
    assert len([*store.keys(layout.TREND_TOKEN.folder(""))]) == len(NAMES)


@pytest.mark.parametrize("change", [rejudge, relabel, begin, damage, make_older])
def test_a_stale_or_damaged_record_is_not_used(store: CountingStore, change: Callable[[ObjectStore], None]) -> None:
    record(store, *NAMES)
    change(store)
    found = trend(store)
    store.delete(FIGURES.key("demo-b"))
    assert found == trend(store)


def upgrade(store: ObjectStore) -> None:
    store.delete(layout.CAMPAIGN_OF.folder(""))
    for name in NAMES:
        store.delete(FIGURES.key(name))


def raise_revision(store: ObjectStore) -> None:
    record(store, *NAMES)
    for name in NAMES:
        made = FIGURES.read(store, name)
        assert made is not None
        FIGURES.write(store, name, made.model_copy(update={"revision": 0}))


@pytest.mark.parametrize("change", [upgrade, raise_revision])
def test_what_is_computed_of_older_campaigns_is_computed_once(
    store: CountingStore, change: Callable[[ObjectStore], None]
) -> None:
    change(store)
    computed = trend(store)
    assert ids(computed) == [*NAMES]
    store.was_read.clear()
    assert trend(store) == computed
    assert store.was_read == [GATHERED.key("", "demo")]


class ReadOnlyStore(CountingStore):
    """A store that can't be written to."""

    def write(self, key: str, data: bytes) -> None:
        raise StoreError("can't be written", where=key)

    def create(self, key: str, data: bytes) -> bool:
        raise StoreError("can't be written", where=key)


def test_a_store_that_can_not_be_written_to_has_the_same_trend(store: CountingStore) -> None:
    upgrade(store)
    found = trend(ReadOnlyStore(store.root))
    assert not any(FIGURES.exists(store, name) for name in NAMES)
    assert found == trend(store)


def test_a_note_of_a_campaign_that_is_gone_brings_in_no_other(store: CountingStore) -> None:
    store.delete("demo-b")
    assert campaigns_by_definition(store) == {"demo": ["demo-a"], "other": ["other-1"]}
    plan = Plan(CAPACITIES, saturation_ops_s=4_000.0)
    store_campaign(store, demo_definition(name="other"), "demo-b", plan, AT)
    assert ids(trend(store)) == ["demo-a"]
    assert "demo-b" in ids(trend(store, "other"))


def test_publishing_records_it_and_deleting_the_campaign_leaves_nothing(installation: Installation) -> None:
    definition = instant_definition(variants=1, loads=1)
    campaign = installation.open_campaign(definition)
    run_cell(installation.toolkit, "campaign", "v1-001k-r1", "owner", print)
    before = trend(installation.toolkit.store, "instant")
    publish_report(installation.toolkit, "campaign")
    recorded = FIGURES.read(campaign.store, "campaign")
    assert recorded is not None
    assert recorded.verdict_names == campaign.verdict_names()
    assert trend(installation.toolkit.store, "instant") == before
    delete_campaign(installation.toolkit, "campaign", "ada")
    with pytest.raises(NotFound):
        trend(installation.toolkit.store, "instant")
    assert not [*campaign.store.keys(layout.CAMPAIGN_OF.folder(""))]
    assert not [*campaign.store.keys(layout.TREND_TOKEN.folder(""))]


def test_nothing_is_recorded_while_a_verdict_is_being_replaced(store: CountingStore) -> None:
    campaign = CampaignStore(store, "demo-b")
    verdict = next(campaign.verdicts())
    keep_verdict(store, verdict.key, verdict)
    record(store, "demo-b")
    trend(store)
    assert not FIGURES.exists(store, "demo-b")
    layout.VERDICT.write(store, verdict.key, verdict.model_copy(update={"code_version": "later"}))
    unmark_in_trends(store, "demo-b")
    trend(store)
    assert FIGURES.exists(store, "demo-b")


def test_a_report_that_read_the_definition_before_it_changed_records_nothing(store: CountingStore) -> None:
    campaign = CampaignStore(store, "demo-b")
    earlier = StoredCampaign(take_snapshot(campaign), "demo-b")
    relabel(store)
    record_figures(campaign, earlier, campaign.verdict_names(), AT)
    assert not FIGURES.exists(store, "demo-b")


class ReportingStore(ObjectStore):
    """A store in which a report records figures just before the definition is replaced."""

    def write(self, key: str, data: bytes) -> None:
        if key == layout.DEFINITION.key("demo-b"):
            record(ObjectStore(self.root), "demo-b")
        super().write(key, data)


def test_a_definition_that_changes_leaves_no_record_of_a_report_under_way(store: CountingStore) -> None:
    relabel(ReportingStore(store.root))
    assert not FIGURES.exists(store, "demo-b")


def test_judging_anew_what_was_removed_ends_the_record(installation: Installation) -> None:
    campaign = installation.open_campaign(instant_definition(variants=1, loads=1))
    run_cell(installation.toolkit, "campaign", "v1-001k-r1", "owner", print)
    publish_report(installation.toolkit, "campaign")
    (verdict,) = campaign.verdicts()
    campaign.store.delete(layout.VERDICT.key(verdict.key))
    judge(AttemptContext(installation.toolkit, verdict.key))
    assert not FIGURES.exists(campaign.store, "campaign")


def test_a_stale_note_tells_nothing_of_another_definition(store: CountingStore) -> None:
    store.create(layout.CAMPAIGN_OF.key("", "demo", "other-1"), b"")
    damaged = next(CampaignStore(store, "other-1").verdicts()).key
    store.write(layout.VERDICT.key(damaged), b"{")
    assert trend(store).left_out == ()
    assert [one.campaign_id for one in trend(store, "other").left_out] == ["other-1"]


def test_no_note_is_made_of_a_campaign_that_is_gone(store: CountingStore) -> None:
    note_definition(store, "gone", "demo")
    assert not layout.CAMPAIGN_OF.exists(store, "", "demo", "gone")
