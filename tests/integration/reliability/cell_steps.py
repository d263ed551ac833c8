"""The steps of a cell one after the other, by the modules' own functions, which tests replace to strike in them."""

from plimsoll.services.cell import actions, collect, loading
from plimsoll.services.cell.context import AttemptContext
from plimsoll.services.judge import attempt_judging


def to_its_load(work: AttemptContext) -> None:
    """Run the steps until its load runs."""
    for step in (actions.provision, actions.deploy, loading.start_load):
        step(work)


def all_steps(work: AttemptContext, *, poll_s: float) -> None:
    """Run all steps. Its load is looked at every `poll_s` seconds of the toolkit's clock."""
    to_its_load(work)
    while loading.poll_load(work).state == "running":
        work.toolkit.clock.sleep(poll_s)
    collect.collect(work)
    actions.destroy(work)
    attempt_judging.judge(work)
