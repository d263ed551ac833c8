"""The core, wired once per process and settings, and its folder of definitions for Airflow: valid ones become DAGs, the
others one import error.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache
from itertools import combinations
from pathlib import Path

from plimsoll.bootstrap import build_toolkit, definition_folder, load_definition
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.errors import DefinitionError, PlimsollError, Problem, Refused
from plimsoll.prefix import dag_id_of, report_asset_of
from plimsoll.services.definitions.schedules import schedule_problems
from plimsoll.services.toolkit import Toolkit
from plimsoll.settings import Settings
from plimsoll_airflow.internals.moved import CronTriggerTimetable

AIRFLOW_SECRETS = "plimsoll_airflow.wiring.secrets:airflow_secrets"


def toolkit() -> Toolkit:
    """Return the toolkit for this process' environment. Keys come from Airflow unless it names another source."""
    settings = Settings()
    named = "secrets" in settings.model_fields_set
    return _built(settings if named else settings.model_copy(update={"secrets": AIRFLOW_SECRETS}))


@lru_cache(maxsize=4)
def _built(settings: Settings) -> Toolkit:
    return build_toolkit(settings)


RUN_POLLS = 40
RUN_POLL_S = (2, 30)
LOOKS_AT_ONCE = 100
"""The number of loads that a triggerer may look at in the same moment, each in a thread of its own."""


def run_poll_s(duration: timedelta) -> int:
    """Return the seconds between two looks at the run of a cell with a load of that duration."""
    least, most = RUN_POLL_S
    return min(most, max(least, round(duration.total_seconds() / RUN_POLLS)))


def sound_definitions(settings: Settings, dag_id: str | None = None) -> Iterator[Definition]:
    """Yield every valid definition. With a `dag_id` only the definition of that DAG, so that no other is parsed."""
    for name in definition_folder(settings).names():
        if dag_id in (None, dag_id_of(name)):
            with suppress(PlimsollError):  # `faults` tells; one broken file must not hide the other DAGs
                yield read_definition(settings, name)


def faults(settings: Settings) -> tuple[Problem, ...]:
    """Return the faults of definitions that can't become DAGs, in the order of the files, and of their queues."""
    sound, problems = list[Definition](), list[Problem]()
    for name in definition_folder(settings).names():
        try:
            sound.append(read_definition(settings, name))
        except Refused as error:
            problems += [replace(problem, where=f"{error.where}, {problem.where}") for problem in error.problems]
        except PlimsollError as error:
            problems.append(Problem(error.where, error.what, error.mend))
    return (*problems, *_queue_problems(settings, sound))


def read_definition(settings: Settings, name: str) -> Definition:
    """Read the definition in that file. Raises DefinitionError with file, key, found and allowed values."""
    definition = load_definition(settings, name)
    problems = [*schedule_problems(definition), *_cycle_problems(settings, definition)]
    if definition.name != name:
        wrong = f"is {definition.name!r} in a file called {name}.yaml"
        problems.insert(0, Problem("name", wrong, f"allowed: {name}"))
    if problems:
        raise DefinitionError(problems, where=str(Path(settings.campaigns) / f"{name}.yaml"))
    return definition


def timetable(definition: Definition) -> CronTriggerTimetable | None:
    """Return the definition's schedule; None where it has none. Raises ValueError for an impossible schedule."""
    if definition.schedule is None:
        return None
    # `run_immediately=False` still makes up for a time that is less than a tenth of the interval past; this does not.
    return CronTriggerTimetable(definition.schedule, timezone=definition.timezone, run_immediately=timedelta(0))


def _cycle_problems(settings: Settings, definition: Definition) -> Iterator[Problem]:
    """Yield a problem where definitions follow each other's reports in a circle: campaigns would begin for ever."""
    chain, followed = [definition.name], _followed(definition)
    while followed:
        chain.append(followed)
        if followed == definition.name:
            what = f"begins campaigns for ever, each by the report of another one: {' follows '.join(chain)}"
            yield Problem("trigger.asset", what, "let one of them follow another asset, or none")
        if followed in chain[:-1]:
            return
        try:
            followed = _followed(load_definition(settings, followed))
        except PlimsollError:  # it becomes no DAG, and so publishes nothing
            return


def _followed(definition: Definition) -> str:
    """Return the name of the definition whose reports begin campaigns of this one; empty where there is none."""
    asset, of_reports = definition.trigger.asset if definition.trigger else "", report_asset_of("")
    return asset.removeprefix(of_reports) if asset.startswith(of_reports) else ""


def _queue_problems(settings: Settings, definitions: Iterable[Definition]) -> Iterator[Problem]:
    """Yield a fault where definitions do not agree on a queue.

    Airflow watches an asset as the DAG says that it has parsed last. And with a Fernet key it may make two readers of
    a queue that two assets have, each of which would get some of the messages.
    """
    with_trigger = [(definition.name, definition.trigger) for definition in definitions if definition.trigger]
    for (first, trigger), (second, other) in combinations(with_trigger, 2):
        is_shared = trigger.queue and other.queue and trigger.queue.url == other.queue.url
        where = f"{Path(settings.campaigns) / f'{second}.yaml'}, trigger.queue"
        if trigger.asset == other.asset and trigger.queue != other.queue:
            what = f"is not that of {first}.yaml, which begins by the same asset {trigger.asset!r}"
            yield Problem(where, what, f"write the same `queue` in {first}.yaml and {second}.yaml, or another asset")
        elif trigger.asset != other.asset and is_shared:
            what = (
                f"is also that of asset {trigger.asset!r} in {first}.yaml, so that each would get some of the messages"
            )
            yield Problem(where, what, f"write the same asset in {first}.yaml and {second}.yaml, or another queue")
