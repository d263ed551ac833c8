"""What becomes of an attempt whose evidence has a flaw, on instant adapters and real Great Expectations."""

import pytest
from tests.fakes.installation import Installation, instant_definition

from plimsoll.domain.errors import NotFound
from plimsoll.services import layout, phases
from plimsoll.services.attempts import begin
from plimsoll.services.collecting import collect
from plimsoll.services.judging import judge
from plimsoll.services.progress import campaign_progress

CELL = "v1-001k-r1"


@pytest.fixture
def installation(tmp_path):
    return Installation(tmp_path)


@pytest.fixture
def work(installation):
    """An attempt whose load is complete, nothing collected yet."""
    installation.open_campaign(installation.define(instant_definition(variants=1, loads=1)))
    work = begin(installation.toolkit, "campaign", CELL, "test")
    for phase in (phases.provision, phases.deploy, phases.start_load):
        phase(work)
    phases.require_complete(work, phases.poll_load(work))
    return work


def state_of_the_cell(work):
    [cell] = campaign_progress(work.toolkit.store, "campaign", now=work.toolkit.clock.now()).cells
    return cell


def test_an_attempt_without_a_flaw_is_valid(work):
    collect(work)
    assert judge(work).reasons == ()
    assert state_of_the_cell(work).state == "met"


def test_a_node_that_no_longer_ran_at_the_end_makes_the_attempt_invalid(work, installation):
    installation.faults.plant(CELL, "down")
    collect(work)
    [reason] = judge(work).reasons
    assert "all nodes up all the time" in reason
    assert "node1 was told to be down; node2 was told to be down; node3 was told to be down" in reason


def test_records_that_a_log_lost_are_noticed(work):
    cluster = work.provider.find(work.key)
    host = work.provider.host(cluster, cluster.load_host)
    [path] = [path for path in host.files(host.root) if path.name.endswith("hdr-intended-selects")]
    lines = host.read_tail(path, max_bytes=1_000_000).splitlines(keepends=True)
    host.write(path, "".join(lines[:-1]))
    collect(work)
    assert any("the load generator answered for 20000" in reason for reason in judge(work).reasons)


def test_a_judgement_that_can_not_be_made_shows_as_failed_with_its_reason(work):
    collect(work)
    work.toolkit.store.delete(layout.attempt_file(work.key, layout.FINGERPRINT))
    with pytest.raises(NotFound):
        judge(work)
    found = state_of_the_cell(work)
    assert found.state == "failed"
    assert "there is no fingerprint of this attempt" in found.reason
