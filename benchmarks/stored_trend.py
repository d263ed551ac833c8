"""The processor time of a trend over many campaigns: as gathered, from their records, and computed from verdicts.

    .venv/bin/python -m benchmarks.stored_trend [--campaigns N]

The store is a local folder of synthetic campaigns of two variants at two loads. The same trend is made from records, as
publishing writes them, then from what the first one gathered, then after one campaign has changed, then without any
record. Finding the changes is part of all. The command fails if the trend from records takes more than a fifth of the
computed one, or if the gathered one asks the store for more than listings and 12 files, however many campaigns.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime, timedelta

from tests.support.campaigns.stored import store_campaign
from tests.support.campaigns.synthetic import Plan, demo_definition

from plimsoll.adapters.stores.object_store import ObjectStore
from plimsoll.report.trend.document import TrendDocument
from plimsoll.services.publish.trends import FIGURES, record_figures, stored_trend
from plimsoll.services.store import layout
from plimsoll.services.store.judged import unmark_in_trends

_AT = datetime(2026, 1, 31, tzinfo=UTC)
_CAPACITIES = {"g1": 200, "shenandoah": 1_500}
_AIM = 0.2
_MOST_READ = 12


class _CountingStore(ObjectStore):
    """Counts what is asked of the store."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.requests: Counter[str] = Counter()

    def read(self, key: str) -> bytes:
        self.requests["read"] += 1
        return super().read(key)

    def _entries(self, prefix: str, kind: str) -> list[str]:
        self.requests["list"] += 1
        return super()._entries(prefix, kind)

    def _files(self, prefix: str) -> dict[str, object]:
        self.requests["list"] += 1
        return dict(super()._files(prefix))


def main() -> None:
    """Print processor time and requests of both, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plimsoll-benchmark-") as folder:
        store = _CountingStore(folder)
        names = [f"demo-{number}" for number in range(options.campaigns)]
        for number, name in enumerate(names):
            plan = Plan(_CAPACITIES, saturation_ops_s=4_000.0, seed=number)
            campaign = store_campaign(store, demo_definition(), name, plan, _AT + timedelta(days=number))
            record_figures(campaign, campaign, campaign.verdict_names(), _AT)
        _trend(store)  # imports what all need
        store.delete(layout.TREND_TOKEN.folder(""))
        recorded_s, recorded = _measured("from records", store)
        _, gathered = _measured("gathered", store)
        asked = store.requests["read"]
        unmark_in_trends(store, names[-1])
        _measured("gathered, but for one", store)
        asked = max(asked, store.requests["read"])
        store.delete(layout.TREND_TOKEN.folder(""))
        for name in names:
            store.delete(FIGURES.key(name))
        computed_s, computed = _measured("computed", store)
    if not recorded == gathered == computed:
        sys.exit("the trends differ")
    if asked > _MOST_READ:
        sys.exit(f"a gathered trend read {asked} files")
    print(f"ratio {recorded_s / computed_s:.3f}")
    if recorded_s > _AIM * computed_s:
        sys.exit(f"more than {_AIM} of it")


def _trend(store: ObjectStore) -> TrendDocument:
    return stored_trend(store, ["demo"], "date", _AT)


def _measured(what: str, store: _CountingStore) -> tuple[float, TrendDocument]:
    store.requests.clear()
    begun_s = time.process_time()
    found = _trend(store)
    took_s = time.process_time() - begun_s
    print(f"{what}: {took_s:.2f} CPU s, {store.requests['read']} reads, {store.requests['list']} listings", flush=True)
    return took_s, found


if __name__ == "__main__":
    main()
