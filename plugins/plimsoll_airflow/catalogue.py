"""The folder of definitions as Airflow sees it: the sound ones become DAGs, the others one import error."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from airflow.sdk import CronTriggerTimetable

from plimsoll.bootstrap import definition_folder, load_definition
from plimsoll.domain.definition import Definition, dag_id_of
from plimsoll.domain.errors import DefinitionError, PlimsollError, Problem, Refused
from plimsoll.services.definitions.schedules import schedule_problems
from plimsoll.settings import Settings


def sound_definitions(settings: Settings, dag_id: str | None = None) -> Iterator[Definition]:
    """Every definition that a DAG can be made of; with a `dag_id` only that DAG's, which spares parsing the others."""
    for name in definition_folder(settings).names():
        if dag_id in (None, dag_id_of(name)):
            try:
                yield read_definition(settings, name)
            except PlimsollError:
                continue  # `faults` tells; one broken file must not hide the other DAGs


def faults(settings: Settings) -> tuple[Problem, ...]:
    """What is wrong with the definitions that no DAG can be made of, in the order of the files."""
    names = definition_folder(settings).names()
    return tuple(problem for name in names for problem in _problems(settings, name))


def read_definition(settings: Settings, name: str) -> Definition:
    """The definition of that file. DefinitionError with what is wrong: file, key, found, allowed."""
    definition = load_definition(settings, name)
    problems = [*_name_problems(definition, name), *schedule_problems(definition)]
    if problems:
        raise DefinitionError(problems, where=str(Path(settings.campaigns) / f"{name}.yaml"))
    return definition


def timetable(definition: Definition) -> CronTriggerTimetable | None:
    """The definition's schedule, None when it is run by hand only. Raises ValueError for one that can't be."""
    if definition.schedule is None:
        return None
    # `run_immediately=False` still makes up for a time that is less than a tenth of the interval past; this does not.
    return CronTriggerTimetable(definition.schedule, timezone=definition.timezone, run_immediately=timedelta(0))


def _problems(settings: Settings, name: str) -> Iterator[Problem]:
    try:
        read_definition(settings, name)
    except Refused as error:
        yield from (replace(problem, where=f"{error.where}, {problem.where}") for problem in error.problems)
    except PlimsollError as error:
        yield Problem(error.where, error.what, error.mend)


def _name_problems(definition: Definition, name: str) -> Iterator[Problem]:
    if definition.name != name:
        yield Problem("name", f"is {definition.name!r} in a file called {name}.yaml", f"allowed: {name}")
