"""The campaigns whose processes are killed, and the phases that their cells are held in."""

from tests.fakes.installation import instant_definition
from tests.support.airflow.kill_scene import PARTS

from plimsoll.domain.strategy import Search

PROCESSES = ("task", "supervisor", "worker")
# The phases that a variant's cells are held in, cell by cell; judging does not hold up destruction.
IN_TASKS = (("provision",), ("deploy",), ("start",), ("collect",), ("judge", "destroy"))
DEFINITIONS = {
    # Each variant meets another fate: v1 the task's process, v2 its supervisor, v3 the whole worker.
    "tasks": instant_definition("tasks", variants=len(PROCESSES), loads=len(IN_TASKS), parallel=15),
    **{part: instant_definition(part, variants=1, loads=len(IN_TASKS) + 1, parallel=6) for part in PARTS},
    "sought": instant_definition("sought", variants=1, loads=2).model_copy(update={"strategy": Search()}),
    "random": instant_definition("random", variants=2, loads=2, parallel=4, load_s=5),
}
