"""Send notices through an Airflow notifier of the user's choice, off unless `PLIMSOLL_NOTIFIER` names one: for
campaigns whose definition asks for them, of a run that ended incomplete, did not start when it was due, or is expected
to end too late, and of changes in the trend over its campaigns.
"""

import json
import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pkgutil import resolve_name
from socket import gaierror
from typing import TYPE_CHECKING, Any

from airflow.sdk import TaskInstanceState

from plimsoll.adapters.clock import SystemClock
from plimsoll.domain.campaign.resolve import resolve
from plimsoll.domain.definition.definition import Definition
from plimsoll.domain.text.errors import NotFound, PlimsollError
from plimsoll.services.campaign.open.request import campaign_id_of
from plimsoll.services.campaign.show.progress import campaign_progress
from plimsoll.services.hosts.limits import answerable, compared
from plimsoll.services.retries import SOON_S, with_retries
from plimsoll.services.store import layout
from plimsoll.services.store.campaigns import CampaignStore
from plimsoll.settings import Settings
from plimsoll_airflow.runs.ownership import NEXT_ROUND_TASK
from plimsoll_airflow.wiring.core import toolkit

if TYPE_CHECKING:
    from airflow.sdk import BaseNotifier

    from plimsoll.report.trend.document import TrendDocument

_MEND = "correct PLIMSOLL_NOTIFIER; docs/guides/operations.md has examples"
_log = logging.getLogger(__name__)
_NO_CONNECTION = (gaierror, ConnectionRefusedError)


class NoticeError(PlimsollError):
    """A notice could not be sent."""


class _NotReached(NoticeError):
    """Nothing was sent, for no connection was made, so that another try tells nobody twice."""


def send(context: Mapping[str, Any], title: str, text: str) -> None:
    """Send a notice, if a notifier is named. Raises NoticeError when it can't be made or sent.

    The notifier's templated arguments get `notice` and `notice_title` in addition to the task's own context.
    """
    setting = Settings().notifier
    if not setting:
        return
    about = {**context, "notice_title": title, "notice": text}

    def send_once() -> None:
        # Made anew for each try: after the first one its texts are filled in, and would be taken for templates.
        _send(_made(setting), about)

    with_retries(SystemClock(), send_once, _log.warning, again=(_NotReached,), pauses_s=SOON_S)


def require_notifier() -> None:
    """Raise NoticeError where the notifier that is named can't be made. Without one nobody is told."""
    if setting := Settings().notifier:
        _made(setting)


def _send(notifier: "BaseNotifier", about: dict[str, Any]) -> None:
    try:
        notifier(about)
    except Exception as error:  # whatever the provider raises
        kind = _NotReached if any(isinstance(cause, _NO_CONNECTION) for cause in _causes(error)) else NoticeError
        why = f"the notice could not be sent: {type(error).__name__}: {error}"
        raise kind(why, where=type(notifier).__name__, mend=_MEND) from error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _made(setting: str) -> "BaseNotifier":
    from airflow.sdk import BaseNotifier

    try:
        arguments = json.loads(setting)
        kind = resolve_name(arguments.pop("notifier"))
        notifier = kind(**arguments)
    except (ValueError, KeyError, TypeError, AttributeError, ImportError) as error:
        what = f"names no notifier: {type(error).__name__}: {error}"
        raise NoticeError(what, where="PLIMSOLL_NOTIFIER", mend=_MEND) from error
    if not isinstance(notifier, BaseNotifier):
        raise NoticeError(f"{kind.__name__} is no Airflow notifier", where="PLIMSOLL_NOTIFIER", mend=_MEND)
    return notifier


def when_incomplete(definition: Definition) -> Callable[[Mapping[str, Any]], None] | None:
    """Return the `on_failure_callback` of a DAG, which sends a notice that a campaign ended without a report.

    None where the definition asks for no notice. No notice is sent of a run that the next round of a search follows.
    """
    if "incomplete" not in definition.notify:
        return None

    def send_notice(context: Mapping[str, Any]) -> None:
        if resolve(definition).chosen_by and _is_followed(context):
            return
        title = f"Plimsoll: a campaign of {definition.name} has ended incomplete"
        send(context, title, "\n".join(_ending(definition, context)))

    return send_notice


def tell_if_late(context: Mapping[str, Any], campaign: CampaignStore, *, begins: bool = True) -> None:
    """Send one notice of a campaign whose definition asks for it, once it is expected to end after its `finish_by`.

    `begins`: a cell of it is about to begin; else nobody is told unless one runs.

    One that can't be sent is logged, because the cells run whether or not people are told. Where there is no notifier,
    or it can't be made, people are told later, once there is one.
    """
    definition, setting = campaign.declared(), Settings().notifier
    if "late" not in definition.notify or definition.finish_by is None or not setting:
        return
    now = datetime.now(UTC)
    progress = campaign_progress(campaign.store, campaign.campaign_id, now=now)
    # An end that nobody can tell, for a cell takes far longer than expected, is not before now.
    deadline, end = progress.finish_by, progress.expected_end(now) or now
    if deadline is None or end <= deadline or not (begins or any(cell.runs for cell in progress.cells)):
        return
    title = f"Plimsoll: campaign {campaign.campaign_id} is late"
    text = f"it ends {compared(end, deadline)}: cells that would end later do not run"
    text = "\n".join(filter(None, [text, answerable(progress, now)]))
    try:
        require_notifier()  # one that can't be made must not use up what is told once
        if campaign.store.create(layout.LATE.key(campaign.campaign_id), now.isoformat().encode()):
            _log.info("%s\n%s", title, text)  # nobody is told again, so that it stands here if it can't be sent
            send(context, title, text)
    except NoticeError as error:
        _log.warning("%s", error)


def _is_followed(context: Mapping[str, Any]) -> bool:
    """Tell whether the run has started the run of the next round, by whose end the campaign may be complete."""
    try:
        ti, run_id = context["ti"], context["run_id"]  # without a task's context nothing more can be asked
        states = ti.get_task_states(ti.dag_id, task_ids=[NEXT_ROUND_TASK], run_ids=[run_id])
    except Exception:  # whatever Airflow raises: rather one notice too many than none
        _log.exception("whether another round follows could not be found out")
        return False
    return bool(states.get(run_id, {}).get(NEXT_ROUND_TASK) == TaskInstanceState.SUCCESS)


def tell_news(
    context: Mapping[str, Any],
    trend: "TrendDocument",
    events: Collection[str],
    campaign_id: str,
    page: Callable[[str], str],
) -> None:
    """Send a notice of the changes in the trend that are news, once for all. Raises NoticeError.

    `trend`: the trend over the campaigns of the definition whose campaign is published; `events`: those asked for;
    `page`: a campaign's id → the address of its page.
    """
    from plimsoll.services.publish.trend_marks import claim_news, news  # late: whoever parses DAGs needs none of it

    if not Settings().notifier:
        return
    require_notifier()  # one that can't be made must not use up what is told once
    store, effects = toolkit().store, {"regression", "improvement"}.intersection(events)
    changes = claim_news(store, trend, effects, campaign_id, datetime.now(UTC))
    if changes:
        title, text = news(store, trend, changes, page)
        _log.info("%s\n%s", title, text)  # nobody is told again, so that it stands here if it can't be sent
        send(context, title, text)


def _ending(definition: Definition, context: Mapping[str, Any]) -> Iterator[str]:
    run = context.get("dag_run")
    yield f"run {context['run_id']} of the DAG {definition.dag_id} failed: {context.get('reason') or 'no reason given'}"
    if run is None:
        return
    campaign_id = campaign_id_of(definition.name, run.conf, run.run_after)
    yield f"campaign: {campaign_id}"
    with suppress(NotFound):  # a campaign that was refused has no place in the store
        progress = campaign_progress(toolkit().store, campaign_id, now=datetime.now(UTC))
        yield f"cells with a valid attempt: {progress.count('met', 'missed')} of {len(progress.cells)}"
        for cell in progress.cells:
            if cell.reason:
                yield f"{cell.cell.id}, attempt {cell.attempt}: {cell.reason}"
