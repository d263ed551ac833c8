"""Cells in this process while the store, or a key to the hosts, is away for a while or for good."""

from dataclasses import replace
from typing import NoReturn

import pytest
from tests.fakes.clock import SteppingClock
from tests.fakes.hosts import FolderHost
from tests.fakes.installation import Installation
from tests.fakes.paid import PaidProvider, Prices, hide_costs
from tests.support.campaigns.declared_steps import failing
from tests.support.campaigns.one_cell import run_cell
from tests.support.stores.places import patch_place

from plimsoll.domain.text.errors import PlimsollError, SecretError, StoreError
from plimsoll.services.retries import AWAY_S
from plimsoll.services.steps.running import run_cells
from plimsoll.services.store import layout
from plimsoll.services.toolkit import Toolkit

CELLS = ("v1-001k-r1", "v1-002k-r1")


@pytest.mark.parametrize("error", [StoreError("the store is away"), SecretError("there is no such connection")])
def test_a_store_or_a_key_that_is_away_for_a_minute_while_files_are_collected_costs_nothing(
    tools: Toolkit, monkeypatch: pytest.MonkeyPatch, error: PlimsollError
) -> None:
    monkeypatch.setattr(FolderHost, "fetch", failing(FolderHost.fetch, error, 5))

    assert run_cell(tools, "campaign", CELLS[0], "me", print).valid


def test_files_that_can_not_be_stored_for_good_end_the_attempt_after_the_last_try(
    installation: Installation, tools: Toolkit, clock: SteppingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> NoReturn:
        raise StoreError("the store is away")

    monkeypatch.setattr(type(tools.store), "upload", away)

    [ran] = run_cells(tools, "campaign", CELLS[:1], "me", print)

    assert clock.slept == list(AWAY_S)
    assert (ran.verdict, layout.MANIFEST.read(tools.store, ran.work.key)) == (None, None)
    assert [trouble.partition(": ")[2] for trouble in ran.troubles] == ["collect: the store is away"]
    assert installation.provider.clusters() == []


@pytest.fixture
def paying(tools: Toolkit) -> Toolkit:
    """The same where hosts cost money."""
    provider = PaidProvider(tools.providers["instant"], tools.clock)
    return replace(tools, providers={"instant": provider}, tariffs={"instant": Prices()})


def test_what_the_campaign_has_cost_is_said_after_the_verdict(paying: Toolkit) -> None:
    said: list[str] = []

    run_cell(paying, "campaign", CELLS[0], "me", said.append)

    verdict, cost = said[-2:]
    assert "/1: met" in verdict
    assert "/1: the campaign has spent " in cost


def test_a_cost_that_can_not_be_read_costs_no_verdict_and_is_said(
    paying: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    hide_costs(monkeypatch)

    assert run_cell(paying, "campaign", CELLS[0], "me", said.append).valid

    assert said[-1].endswith("what the campaign has spent so far can't be told: the store is away")


def test_a_verdict_that_can_not_be_read_just_then_is_read_again(
    tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = StoreError("the store is away")
    patch_place(monkeypatch, "steps.running", "VERDICT", read=failing(layout.VERDICT.read, away, 5))

    assert run_cell(tools, "campaign", CELLS[0], "me", print).valid


def test_a_verdict_that_stays_unread_is_told_and_the_next_cell_runs(
    tools: Toolkit, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = StoreError("the store is away")
    unread = failing(layout.VERDICT.read, away, len(AWAY_S) + 1)
    patch_place(monkeypatch, "steps.running", "VERDICT", read=unread)

    first, second = run_cells(tools, "campaign", CELLS, "me", print)

    assert (first.verdict, first.remains) == (None, False)
    assert first.troubles == (f"{first.work.key}: its verdict could not be read: the store is away",)
    assert second.verdict is not None
