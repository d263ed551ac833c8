"""Send notices through an Airflow notifier of the user's choice. Off unless `PLIMSOLL_NOTIFIER` names one."""

import json
from collections.abc import Mapping
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from plimsoll.domain.errors import PlimsollError
from plimsoll.settings import Settings

if TYPE_CHECKING:
    from airflow.sdk import BaseNotifier

_CLASS = "notifier"
_MEND = "correct PLIMSOLL_NOTIFIER; docs/guides/operations.md has examples"


class NoticeError(PlimsollError):
    """A notice could not be sent."""


def send(context: Mapping[str, Any], title: str, text: str) -> None:
    """Send a notice, if a notifier is named. Raises NoticeError when it can't be made or sent.

    The notifier's templated arguments get `notice` and `notice_title` in addition to the task's own context.
    """
    setting = Settings().notifier
    if not setting:
        return
    made = _made(setting)
    try:
        made({**context, "notice_title": title, "notice": text})
    except Exception as error:  # whatever the provider raises
        why = f"{type(error).__name__}: {error}"
        raise NoticeError(f"the notice could not be sent: {why}", where=type(made).__name__, mend=_MEND) from error


def _made(setting: str) -> "BaseNotifier":
    from airflow.sdk import BaseNotifier

    try:
        arguments = json.loads(setting)
        kind = resolve_name(arguments.pop(_CLASS))
        made = kind(**arguments)
    except (ValueError, KeyError, TypeError, AttributeError, ImportError) as error:
        what = f"names no notifier: {type(error).__name__}: {error}"
        raise NoticeError(what, where="PLIMSOLL_NOTIFIER", mend=_MEND) from error
    if not isinstance(made, BaseNotifier):
        raise NoticeError(f"{kind.__name__} is no Airflow notifier", where="PLIMSOLL_NOTIFIER", mend=_MEND)
    return made
