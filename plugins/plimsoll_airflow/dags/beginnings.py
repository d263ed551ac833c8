"""What begins campaigns of a definition by itself: times, events of an asset, messages of a queue."""

from airflow.sdk import Asset, AssetWatcher

from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.keys.trigger import Trigger
from plimsoll_airflow.internals.moved import AssetOrTimeSchedule, CronTriggerTimetable
from plimsoll_airflow.triggers.queue import QueueTrigger
from plimsoll_airflow.wiring.definitions import timetable


def dag_schedule(definition: Definition) -> "CronTriggerTimetable | AssetOrTimeSchedule | Asset | None":
    """Return the definition's schedule, the asset whose events begin campaigns, both, or nothing."""
    times = timetable(definition)
    if definition.trigger is None:
        return times
    asset = triggering_asset(definition.trigger)
    return asset if times is None else AssetOrTimeSchedule(timetable=times, assets=asset)


def triggering_asset(trigger: Trigger) -> Asset:
    """Return the asset with the watcher of its queue.

    Each mention of the asset must have the watcher, inlets too: of several in a file Airflow takes the last one's.
    """
    queue = trigger.queue
    if queue is None:
        return Asset(trigger.asset)
    watcher = AssetWatcher(name=f"{trigger.asset}-queue", trigger=QueueTrigger(queue.url, queue.connection))
    return Asset(trigger.asset, watchers=[watcher])
