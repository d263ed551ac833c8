"""What is checked of requests to the whole api-server, before Airflow's own pages and API see them.

Airflow checks a form by its JSON schema alone, which can't say that a pattern fits no cell, or that a campaign belongs
to another definition. Such a request is refused here with all its problems, before `plan` would fail because of them.
"""

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plimsoll_airflow.web import PREFIX

if TYPE_CHECKING:
    from starlette.responses import Response

_TRIGGER = re.compile(r"/api/v2/dags/([a-z0-9_]{1,250})/dagRuns")
_SENT_BY_BROWSERS = "sec-fetch-mode"
_NAMELESS = 430
"""A status without a name, which clients have to take for 400 (RFC 9110, 15)."""
_LARGEST = 1_000_000
"""The greatest size of a request's body that is read, bytes; a larger one is left to Airflow."""


class Middleware:
    """The middleware that leads `/plimsoll` to `/plimsoll/`, and refuses runs of campaigns' DAGs that `plan` does."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer: Response | None = None
        if scope["type"] == "http":
            from starlette._utils import get_route_path

            # As Starlette's own routes see it: without the path below which a proxy may serve Airflow
            path = get_route_path(scope)
            if path == PREFIX and scope["method"] in ("GET", "HEAD"):
                from starlette.responses import RedirectResponse

                query = scope["query_string"].decode()
                answer = RedirectResponse(f"{scope.get('root_path', '')}{PREFIX}/{'?' if query else ''}{query}")
            elif scope["method"] == "POST" and (named := _TRIGGER.fullmatch(path)):
                body, receive = await _read(receive)
                answer = await _refusal(scope, named[1], body)
        await (answer or self._app)(scope, receive, send)


async def _read(receive: Receive) -> tuple[bytes, Receive]:
    """Return the body, and a function by which it can be received again."""
    messages: list[Message] = []
    size = 0
    while size <= _LARGEST:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body"):
            break
    left = iter(messages)

    async def again() -> Message:
        known = next(left, None)
        return await receive() if known is None else known

    return b"".join(message.get("body", b"") for message in messages), again


async def _refusal(scope: Scope, dag_id: str, body: bytes) -> "Response | None":
    """Return the answer to a request that would fail, for users who may trigger the DAG; None: Airflow decides."""
    from fastapi import Request
    from starlette.concurrency import run_in_threadpool

    from plimsoll.domain.text.errors import PlimsollError
    from plimsoll_airflow.web.access import user_of
    from plimsoll_airflow.web.problems import answer_to

    user = await user_of(Request(scope))
    sent = _parsed(body) if user else {}
    conf = sent.get("conf")
    try:
        _require_writable(sent)
        if conf and isinstance(conf, dict):
            # It reads the store, for which the server's loop must not wait
            await run_in_threadpool(_require_sound, dag_id, conf, user)
    except PlimsollError as error:
        request = Request(scope)
        answer = answer_to(request, error, in_detail=True)
        return _for_form(answer) if _SENT_BY_BROWSERS in request.headers else answer
    return None


def _for_form(answer: "Response") -> "Response":
    """Return the same refusal, so that Airflow's form shows its reason.

    Of a status that has a name, the form shows that name alone. Others than browsers get that status.
    """
    from starlette.responses import JSONResponse

    return JSONResponse({"detail": json.loads(bytes(answer.body))["detail"]}, _NAMELESS)


def _parsed(body: bytes) -> Mapping[str, Any]:
    """Return what was sent; nothing where that is not what Airflow reads."""
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):  # the last one of brackets within brackets
        return {}
    return sent if isinstance(sent, dict) else {}


def _require_writable(sent: Mapping[str, Any]) -> None:
    """Raise Refused where half of a character stands anywhere: neither a database nor an answer can hold it."""
    from plimsoll.domain.text.errors import Problem, Refused

    try:
        json.dumps(sent, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        what = f"holds {half}, which is one half of a character alone"
        raise Refused([Problem("the body", what, "write the whole character, or leave it out")]) from None
    except RecursionError:  # brackets within brackets are Airflow's
        return


def _require_sound(dag_id: str, conf: Mapping[str, Any], user: Any) -> None:
    """Raise Refused where `plan` would refuse the request. Other DAGs, and users without rights, are Airflow's."""
    from plimsoll.bootstrap import definition_folder, load_document
    from plimsoll.domain.campaign.resolve import resolve
    from plimsoll.prefix import dag_id_of, name_of_dag
    from plimsoll.services.campaign.open.creation import requested_definition
    from plimsoll.services.campaign.open.request import given_values, read_request
    from plimsoll.services.store.campaigns import CampaignStore
    from plimsoll.services.store.listing import campaign_exists
    from plimsoll.settings import Settings
    from plimsoll_airflow.internals.api_server import is_allowed
    from plimsoll_airflow.wiring.core import toolkit

    settings = Settings()
    if dag_id not in map(dag_id_of, definition_folder(settings).names()) or not is_allowed(user, dag_id, changes=True):
        return
    document, store = load_document(settings, name_of_dag(dag_id)), toolkit().store
    named = CampaignStore(store, str(conf.get("campaign_id") or ""))
    definition = requested_definition(document, given_values(conf), named)
    campaign_id = read_request(resolve(definition), conf).campaign_id
    if campaign_id and campaign_exists(store, campaign_id):
        CampaignStore(store, campaign_id).continued(definition)
