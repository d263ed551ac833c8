"""`kill -9` of a random process of a real Airflow at a random time of a campaign: for `make test-all`.

`PLIMSOLL_TEST_SEED` repeats the kills of a run; each test prints its seed.
"""

import os
import random
import secrets
import time
from collections.abc import Iterator

import pytest
from tests.support.airflow.kill_scene import PARTS, Scene
from tests.support.suite.requirements import long
from tests.system.kills.definitions import DEFINITIONS

KILLS = 20
AT_WORK = "a process at work"
"""A worker, a task's supervisor or a task, whichever is there."""
ENOUGH = 5
"""So many rounds that kill whoever is at work tell whether they strike anybody."""
SPAN_S = 40.0
"""About what the campaign takes when nobody is killed."""
ENDED_S = 1500.0
"""A task that was given to a worker and never begun is missed after 600 s."""

pytestmark = [
    pytest.mark.timeout(2400),
    long("kills at random times take hours"),
]


@pytest.fixture(scope="module")
def first_seed() -> int:
    return int(os.environ.get("PLIMSOLL_TEST_SEED") or secrets.randbelow(1_000_000))


@pytest.fixture(scope="module")
def struck() -> Iterator[list[str]]:
    """Collect what each round has killed, empty where nobody was at work, and require that most killed one."""
    found: list[str] = []
    yield found
    assert len(found) < ENOUGH or sum(map(bool, found)) * 2 >= len(found), f"most kills struck nobody: {found}"


@pytest.mark.parametrize("number", range(KILLS))
def test_a_kill_at_a_random_time_loses_and_doubles_nothing(
    number: int, first_seed: int, scene: Scene, struck: list[str]
) -> None:
    seed = first_seed + number
    choice = random.Random(seed)
    part, moment_s = choice.choice((*PARTS, *[AT_WORK] * len(PARTS))), choice.uniform(0.0, SPAN_S)
    campaign_id = f"random-{seed}"
    print(f"PLIMSOLL_TEST_SEED={first_seed}, seed {seed}: {part} is killed {moment_s:.1f} s after the trigger")

    scene.begin(campaign_id, DEFINITIONS["random"])
    time.sleep(moment_s)
    if part == AT_WORK:
        struck.append(scene.kill_at_work(choice))
        print(f"killed: {struck[-1] or 'nobody, for nobody was at work'}")
    else:
        scene.kill_part(part)
    ended = scene.end(campaign_id, timeout_s=ENDED_S)

    assert ended.state == "success", scene.failures(campaign_id)
    scene.assert_each_cell_counts_once(campaign_id)
