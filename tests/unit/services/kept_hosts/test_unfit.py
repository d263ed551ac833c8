"""Kept hosts that fail the check before a load: they are replaced, also by the second try of a killed *deploy*."""

from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest
from tests.fakes.installation import Installation
from tests.fakes.owners import FixedOwners
from tests.unit.services.kept_definition import CELLS, kept
from tests.unit.services.kept_hosts.hosts import Figures, Replacing, Worn, cluster_of, started

from plimsoll.services.cell import actions
from plimsoll.services.cell.attempts import begin
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.hosts import kept_records
from plimsoll.services.steps.running import run_cells
from plimsoll.services.store import layout
from plimsoll.services.toolkit import Toolkit


@pytest.fixture
def made(tmp_path: Path) -> Installation:
    """Provide a campaign on kept hosts whose nodes must write 100M/s to their disks."""
    installation = Installation(tmp_path)
    installation.open_campaign(kept("campaign", canary={"node": {"disk_write": "100M"}}))
    return installation


def test_a_host_that_fails_its_preflight_is_replaced_within_the_cell(made: Installation) -> None:
    figures = Figures([200, 10, 200])
    tools = replace(made.toolkit, canary=figures)
    first, second = run_cells(tools, "campaign", CELLS[:2], "me", print)
    assert (first.verdict.valid, second.verdict.valid) == (True, True)
    assert [cluster_of(tools, one.work) for one in (first, second)] == ["hosts/1", "hosts/2"]
    assert "writes 10M/s to its disk" in layout.FINGERPRINT.read(tools.store, second.work.key).replaces
    assert made.provider.journal()[:3] == ["+ campaign/hosts/1", "- campaign/hosts/1", "+ campaign/hosts/2"]


def test_hosts_that_were_never_fit_end_the_attempt(made: Installation) -> None:
    [ran] = run_cells(replace(made.toolkit, canary=Figures([10])), "campaign", CELLS[:1], "me", print)
    assert not ran.verdict.valid
    assert "the floor is 100M/s" in ran.verdict.reasons[0]


def test_a_host_that_fails_its_preflight_is_replaced_alone_within_the_cell(made: Installation) -> None:
    provider, figures = Replacing(made), Worn("127.9.9.3")
    tools = replace(made.toolkit, canary=figures, providers={"instant": provider})
    ran = run_cells(tools, "campaign", CELLS, "me", print)
    assert [one.verdict.valid for one in ran] == [True] * 3
    reasons = [layout.FINGERPRINT.read(tools.store, one.work.key).replaces for one in ran]
    why = "127.9.9.3 was replaced by 127.9.10.3 (node3 (127.9.9.3) writes 10M/s to its disk, the floor is 100M/s)"
    assert reasons == ["", why, why]
    assert provider.journal() == ["+ campaign/hosts/1", "- campaign/hosts/1"]
    assert figures.asked == 4


def test_killed_before_an_unfit_host_was_replaced_the_next_try_does_so(
    made: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider, figures = Replacing(made), Worn("127.9.9.3")
    tools = replace(made.toolkit, canary=figures, providers={"instant": provider}, owners=FixedOwners(alive={"me"}))
    work = killed_in_deploy(tools, monkeypatch, actions, "provision")
    actions.provision(work)
    actions.deploy(work)
    assert "127.9.9.3 was replaced by 127.9.10.3 (node3" in layout.FINGERPRINT.read(tools.store, work.key).replaces
    assert figures.asked == 3


@pytest.mark.parametrize("moment", ["ensure", "note_provided", "clear"])
def test_killed_while_it_replaces_an_unfit_host_the_second_try_of_deploy_goes_on_with_that(
    made: Installation, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    provider, figures = Replacing(made), Worn("127.9.9.3")
    tools = replace(made.toolkit, canary=figures, providers={"instant": provider}, owners=FixedOwners(alive={"me"}))
    work = killed_in_deploy(tools, monkeypatch, kept_records if moment == "note_provided" else provider, moment)
    again = AttemptContext(tools, work.key)
    actions.deploy(again)
    assert "127.9.9.3 was replaced by 127.9.10.3 (node3" in layout.FINGERPRINT.read(tools.store, work.key).replaces
    assert layout.CLUSTER.read(tools.store, work.key) == again.cluster()
    assert figures.asked == 3


@pytest.mark.parametrize("moment", ["destroy", "ensure", "clear"])
def test_killed_while_it_replaces_unfit_hosts_the_second_try_of_deploy_goes_on_with_that(
    made: Installation, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    tools = replace(made.toolkit, canary=Figures([200, 10, 200]), owners=FixedOwners(alive={"me"}))
    work = killed_in_deploy(tools, monkeypatch, tools.providers["instant"], moment)
    again = AttemptContext(tools, work.key)
    actions.deploy(again)
    assert cluster_of(tools, again) == "hosts/2"
    assert "writes 10M/s to its disk" in layout.FINGERPRINT.read(tools.store, work.key).replaces
    assert layout.CLUSTER.read(tools.store, work.key) == again.cluster()
    assert made.provider.journal() == ["+ campaign/hosts/1", "- campaign/hosts/1", "+ campaign/hosts/2"]


def killed_in_deploy(tools: Toolkit, monkeypatch: pytest.MonkeyPatch, where: object, name: str) -> AttemptContext:
    """Return the attempt at the second cell, killed while it deploys, where it calls that function."""
    actions.destroy(started(tools, CELLS[0]))
    work = begin(tools, "campaign", CELLS[1], "me")
    actions.provision(work)
    with monkeypatch.context() as patched:
        patched.setattr(where, name, kill)
        with pytest.raises(KeyboardInterrupt):
            actions.deploy(work)
    return work


def kill(*_: object, **__: object) -> NoReturn:
    raise KeyboardInterrupt
