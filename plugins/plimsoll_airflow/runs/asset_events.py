"""The event of an asset by which a run of a campaign's DAG began.

Airflow starts one run for all events that come while another one lives, and gives it the first of them alone
(apache/airflow#56050). So the run looks for the others itself. The newest gives the values: what was published last is
what is worth measuring now, and a queue could grow without end. The others are named in the log of `plan` and in the
campaign's status.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Any

from airflow.sdk import Asset, Context

from plimsoll.domain.keys.parameters import Parameter
from plimsoll.domain.keys.trigger import BegunBy, SkippedEvent
from plimsoll.domain.text.wording import shortened, visible
from plimsoll.prefix import report_asset_of
from plimsoll_airflow.internals.moved import MARKS_OF_EVENTS, asset_events

MARKS_OF_REPORTS = frozenset({"campaign_id", "url", "headline", "incomplete", "cells", "capacity", "changes"})
"""Keys that `report` puts into the `extra` of its asset's events: a campaign that begins by one gets no value of it."""
VALUES, MESSAGE = "values", "message"
"""Keys of the payload of an event that a message of a queue is: what it gives to parameters; the message's id."""
_MOST_NAMED = 20
_MOST_ASKED = 1000
"""Events of which a run asks: of an asset with an event each minute those of a day, and still a small answer."""
_LONGEST = 200


@dataclass(frozen=True)
class RunEvent:
    """The newest event that a run is for, what it gives to parameters, and the events before it, newest first.

    `extra` is as somebody made it: only what fits parameters may be shown or stored. `message`: the id of the queue's
    message that it was; empty for others.
    """

    asset: str
    at: datetime
    extra: Mapping[str, Any]
    message: str
    skipped: tuple["RunEvent", ...] = ()
    more_skipped: int = 0

    @property
    def where(self) -> str:
        return f"the event of asset {self.asset!r}, {self.at:%Y-%m-%d %H:%M:%S} UTC"

    def record(self, parameters: Mapping[str, Parameter], installation: str = "") -> BegunBy:
        """Return the record of the event of that Airflow, with the campaign's parameters that it gave values to."""
        return BegunBy(
            asset=self.asset,
            at=self.at,
            installation=installation,
            values={name: parameter.effective for name, parameter in parameters.items() if name in self.extra},
            message=self.message,
            skipped=tuple(
                SkippedEvent(at=event.at, extra=_words(event.extra, parameters), message=event.message)
                for event in self.skipped
            ),
            more_skipped=self.more_skipped,
        )


def first_event(context: Context) -> Any:
    """Return the first event that the run was started for; None where a person or a schedule started it."""
    triggering: Mapping[Any, Any] = context.get("triggering_asset_events") or {}
    return min(chain.from_iterable(triggering.values()), key=lambda event: event.timestamp, default=None)


def newest_event(context: Context, asset: Asset, since: datetime, measured: BegunBy | None) -> RunEvent | None:
    """Return the newest event of the asset since that time, with those before it; None where there is no newer one
    than the event that was `measured` last.
    """
    events = asset_events(context, asset, max(since, measured.at if measured else since), _MOST_ASKED)
    newer = [event for event in events if measured is None or event.timestamp > measured.at]
    waiting = _once(newer, measured.messages if measured else frozenset())
    if not waiting:
        return None
    named = waiting[: _MOST_NAMED + 1]
    newest, *skipped = (RunEvent(asset.name, event.timestamp, _values(event), _message(event)) for event in named)
    return replace(newest, skipped=tuple(skipped), more_skipped=len(waiting) - len(named))


def _once(events: Sequence[Any], known: frozenset[str]) -> list[Any]:
    """Return the first event of each message that is not known, the newest first: a queue may give a message twice."""
    first: dict[str | int, Any] = {}
    for event in reversed(events):
        first.setdefault(_message(event) or id(event), event)
    return [event for message, event in reversed(first.items()) if message not in known]


def _payload(event: Any) -> Mapping[str, Any]:
    """Return what the trigger of a queue made of a message; empty for other events."""
    extra = event.extra or {}
    payload = extra.get("payload") if extra.get("from_trigger") is True else None
    return payload if isinstance(payload, Mapping) else {}


def _message(event: Any) -> str:
    return str(_payload(event).get(MESSAGE, ""))


def _values(event: Any) -> Mapping[str, Any]:
    if isinstance(values := _payload(event).get(VALUES), Mapping):
        return values
    is_of_report = event.asset.name.startswith(report_asset_of(""))
    marks = MARKS_OF_EVENTS | MARKS_OF_REPORTS if is_of_report else MARKS_OF_EVENTS
    return {name: value for name, value in (event.extra or {}).items() if name not in marks}


def _words(extra: Mapping[str, Any], parameters: Mapping[str, Parameter]) -> str:
    """Return the values that fit parameters, in words. Whatever else an event has may be secret."""
    typed = ((name, parameter, parameter.typed(extra[name])) for name, parameter in parameters.items() if name in extra)
    fitting = [f"{name} {value}" for name, parameter, value in typed if parameter.wrong(value) is None]
    return shortened(visible(", ".join(fitting)), _LONGEST)
