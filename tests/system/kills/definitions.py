"""The campaigns whose processes are killed, and the phases that their cells are held in."""

from collections.abc import Sequence
from itertools import chain

from tests.fakes.gated import LOADING
from tests.fakes.installation import instant_definition
from tests.support.airflow.kill_scene import PARTS
from tests.support.suite.requirements import IS_LONG

from plimsoll.domain.strategy import Search

PROCESSES = ("task", "supervisor", "worker")
# A scheduler that lost its database ends when its tasks have ended, and gates hold some of them until the last blow.
_IN_ONE = [["triggerer", "api-server"], ["postgres", "scheduler"]]
BLOWS: Sequence[Sequence[Sequence[str]]] = [[[part]] for part in PARTS] if IS_LONG else [_IN_ONE]
"""For each campaign, the parts of Airflow that die at each blow: `make test-long` has a campaign for each part."""
# The phases that cells are held in, cell by cell; judging does not hold up destruction.
LIFE: Sequence[Sequence[str]] = (
    ("provision",),
    ("deploy",),
    ("start",),
    (LOADING,),
    ("collect",),
    ("judge", "destroy"),
)
IN_TASKS = [phases for phases in LIFE if LOADING not in phases]


def name_of(blows: Sequence[Sequence[str]]) -> str:
    """Return the name of the campaign in which these parts die."""
    return "-".join(chain.from_iterable(blows))


DEFINITIONS = {
    # In a variant each phase meets another fate, and in each variant a phase meets another one: of three, all of them.
    "tasks": instant_definition("tasks", variants=len(PROCESSES) if IS_LONG else 1, loads=len(IN_TASKS), parallel=15),
    **{
        name_of(blows): instant_definition(
            name_of(blows), variants=1, loads=len(LIFE) + len(blows) - 1, parallel=len(LIFE) + 1
        )
        for blows in BLOWS
    },
    "sought": instant_definition("sought", variants=1, loads=2).model_copy(update={"strategy": Search()}),
    "random": instant_definition("random", variants=2, loads=2, parallel=4, load_s=5),
}
