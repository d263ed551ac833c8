"""Triggers of several loads in one event loop, on real hosts behind a real sshd."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.campaigns.declared_steps import declare_polling
from tests.support.cloud.many_loads import Looks, Site, running_site, trigger_of
from tests.support.processes import until

from plimsoll.services.cell.context import AttemptContext

CELLS = 3
PATIENCE_S = 90


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("loads")) as site:
        site.start(CELLS)
        yield site


@pytest.fixture
def site(running: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Let nobody follow its loads after the test, not even a thread that waits for a host."""
    threads = ThreadPoolExecutor(100)
    monkeypatch.setattr("plimsoll_airflow.triggers.load.THREADS", threads)
    declare_polling(monkeypatch, pause_s=lambda _definition: 0.05)
    yield running
    threads.shutdown()
    running.renew()


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    made = Looks()
    declare_polling(monkeypatch, look=made)
    return made


def test_each_is_followed_over_one_connection(site: Site, looks: Looks) -> None:
    followed(site, lambda: more_looks(looks, site.works))
    assert len(site.connected()) == CELLS


def test_lost_links_change_nothing(site: Site, looks: Looks) -> None:
    def cut_twice() -> None:
        for _ in range(2):
            more_looks(looks, site.works)
            site.sshd.cut()
        more_looks(looks, site.works)

    followed(site, cut_twice)


def test_another_triggerer_goes_on_with_them(site: Site, looks: Looks) -> None:
    followed(site, lambda: more_looks(looks, site.works))
    site.renew()
    followed(site, lambda: more_looks(looks, site.works))


def test_a_host_that_says_nothing_more_holds_up_its_own_load_only(site: Site, looks: Looks) -> None:
    mute, *others = site.works

    def silenced() -> None:
        more_looks(looks, site.works)
        with site.silent(mute):
            known = len(looks.of(mute))
            more_looks(looks, others, 10)
            # One may have had its answer already.
            assert len(looks.of(mute)) <= known + 1
        more_looks(looks, site.works)

    followed(site, silenced)


def followed(site: Site, scenario: Callable[[], None]) -> None:
    """Follow all loads while the scenario goes on; none of them may end."""
    asyncio.run(_followed(site, scenario))


async def _followed(site: Site, scenario: Callable[[], None]) -> None:
    toolkit = site.toolkit()
    runs = [trigger_of(toolkit, work).run() for work in site.works]
    ends = [asyncio.ensure_future(anext(run)) for run in runs]
    try:
        await asyncio.to_thread(scenario)
        assert [end.result().payload for end in ends if end.done()] == []
    finally:
        for end in ends:
            end.cancel()
        await asyncio.gather(*ends, return_exceptions=True)


def more_looks(looks: Looks, works: Sequence[AttemptContext], count: int = 3) -> None:
    """Return when each of the loads was looked at so many times more."""
    wanted = {str(work.key): len(looks.of(work)) + count for work in works}

    def left() -> list[str]:
        return [key for key, number in wanted.items() if len(looks.at[key]) < number]

    until(lambda: not left(), lambda: f"looks at {left()}", patience_s=PATIENCE_S, longest_s=0.02)
