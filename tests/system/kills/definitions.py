"""The campaigns whose processes are killed, and the phases that their cells are held in."""

from tests.fakes.installation import instant_definition
from tests.support.airflow.kill_scene import PARTS
from tests.support.suite.proven import IS_LONG

from plimsoll.domain.strategy import Search

PROCESSES = ("task", "supervisor", "worker")
STRUCK = tuple((part,) for part in PARTS) if IS_LONG else (("triggerer", "api-server", "postgres"), ("scheduler",))
"""Parts of Airflow that die in one campaign, one after the other: `make test-long` has a campaign for each."""
# The phases that a variant's cells are held in, cell by cell; judging does not hold up destruction.
IN_TASKS = (("provision",), ("deploy",), ("start",), ("collect",), ("judge", "destroy"))
DEFINITIONS = {
    # In a variant each phase meets another fate, and in each variant a phase meets another one: of three, all of them.
    "tasks": instant_definition("tasks", variants=len(PROCESSES) if IS_LONG else 1, loads=len(IN_TASKS), parallel=15),
    **{
        name: instant_definition(name, variants=1, loads=len(IN_TASKS) + 1, parallel=6)
        for name in map("-".join, STRUCK)
    },
    "sought": instant_definition("sought", variants=1, loads=2).model_copy(update={"strategy": Search()}),
    "random": instant_definition("random", variants=2, loads=2, parallel=4, load_s=5),
}
