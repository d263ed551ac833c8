"""The campaigns whose processes are killed, and the phases that their cells are held in."""

from collections.abc import Sequence

from tests.fakes.gated import LOADING
from tests.fakes.installation import instant_definition
from tests.support.airflow.kill_scene import PARTS

from plimsoll.domain.keys.strategy import Search

PROCESSES = ("task", "supervisor", "worker")
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


DEFINITIONS = {
    # In a variant each phase meets another fate, and in each variant a phase meets another one: of three, all of them.
    "tasks": instant_definition("tasks", variants=len(PROCESSES), loads=len(IN_TASKS), parallel=15),
    **{part: instant_definition(part, variants=1, loads=len(LIFE), parallel=len(LIFE) + 1) for part in PARTS},
    "sought": instant_definition("sought", variants=1, loads=2).model_copy(update={"strategy": Search()}),
    "random": instant_definition("random", variants=2, loads=2, parallel=4, load_s=5),
}
