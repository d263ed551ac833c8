"""Errors as problem documents (RFC 9457): what is wrong, where, and how to mend it. People get the same as a page."""

import json
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, BeforeValidator, Field
from starlette.exceptions import HTTPException

from plimsoll.domain.keys.faults import fault_words
from plimsoll.domain.text.errors import GateClosed, NotFound, PlimsollError, Refused, SecretError, StoreError
from plimsoll.report.formatting import plural
from plimsoll.settings import Settings
from plimsoll_airflow.web.rendering import render

MEDIA_TYPE = "application/problem+json"


def _writable(text: str) -> str:
    """Return the text, with an escape in place of each lone surrogate, which no encoding can write."""
    return text.encode(errors="backslashreplace").decode()


_Words = Annotated[str, BeforeValidator(_writable)]
"""Words that may quote what a client sent. JSON can hold half of a character: `"\\ud800"`."""


class ProblemDetail(BaseModel):
    """One of several problems."""

    where: _Words
    what: _Words
    mend: _Words = ""


class ProblemDocument(BaseModel):
    """An error."""

    title: str = Field(description="The status in words")
    status: int
    detail: _Words = Field(description="What is wrong")
    where: _Words = Field(default="", description="File, key, cell or parameter")
    mend: _Words = Field(default="", description="What to do about it")
    problems: list[ProblemDetail] = Field(default=[], description="Everything found, where it is more than one thing")


RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemDocument, "description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {}}}
    for status in (400, 401, 403, 404, 409, 413, 422, 502, 503)
}
"""The answers that routes of the API may give besides success."""


class Conflict(PlimsollError):
    """A request contradicts the present state."""


class Forbidden(PlimsollError):
    """The user is known, but may not do what the request asks for."""


_STATUS: Sequence[tuple[type[PlimsollError], HTTPStatus]] = (
    (NotFound, HTTPStatus.NOT_FOUND),
    (Refused, HTTPStatus.BAD_REQUEST),
    (Conflict, HTTPStatus.CONFLICT),
    (Forbidden, HTTPStatus.FORBIDDEN),
    (GateClosed, HTTPStatus.CONFLICT),
    (StoreError, HTTPStatus.BAD_GATEWAY),
    (SecretError, HTTPStatus.BAD_GATEWAY),
)
_SLUG = "write lower case letters and digits, with single hyphens between them"
_WRITTEN: Mapping[str | int, str] = {
    **dict.fromkeys(("campaign_id", "a", "b", "name", "cell_id", "part"), _SLUG),
    "cells": "write `missing`, `failed` or `invalid`, or ids and patterns such as `g1-040k-r3, zgc-*-r1`",
    "pair": "write `id-in-a=id-in-b`, several with blanks between them",
}
"""The spelling of parameters whose rule is a pattern, in words."""
_MENDS = {401: "log in to Airflow again, or send a new token: POST /auth/token gives one"}


def install(app: FastAPI) -> None:
    app.exception_handler(PlimsollError)(answer_to)
    app.exception_handler(HTTPException)(_of_http)
    app.exception_handler(RequestValidationError)(_of_validation)


def answer_to(request: Request, error: PlimsollError, *, in_detail: bool = False) -> Response:
    """Return the problem document, or page, about the error.

    `in_detail`: whether its `detail` has all problems, for clients of Airflow's API, whose errors have nothing else.
    """
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), HTTPStatus.INTERNAL_SERVER_ERROR)
    refusals = error.problems if isinstance(error, Refused) else ()
    problems = [ProblemDetail(where=problem.where, what=problem.what, mend=problem.mend) for problem in refusals]
    what = f"refused, {plural(len(problems), 'problem')}" if problems else error.what
    if in_detail and refusals:
        what = "; ".join(map(str, refusals))
    return _answer(request, status, what, where=error.where, mend=error.mend, problems=problems)


def _of_http(request: Request, error: HTTPException) -> Response:
    answer = _answer(request, HTTPStatus(error.status_code), str(error.detail), mend=_MENDS.get(error.status_code, ""))
    answer.headers.update(error.headers or {})
    return answer


def _of_validation(request: Request, error: RequestValidationError) -> Response:
    # A parameter that several dependencies of a route ask for is faulty once for each of them.
    faults = dict.fromkeys(
        (_place(fault["loc"]), fault_words(fault), _WRITTEN.get(fault["loc"][-1], "")) for fault in error.errors()
    )
    problems = [ProblemDetail(where=where, what=what, mend=mend) for where, what, mend in faults]
    return _answer(request, HTTPStatus.UNPROCESSABLE_ENTITY, "the request can't be read", problems=problems)


def _place(path: Sequence[str | int]) -> str:
    """Return the name of a faulty parameter or key; where the whole of a place is at fault that place: `the body`."""
    inner = [key for key in path[1:] if isinstance(key, str)]
    return ".".join(inner) or f"the {path[0]}"


def _answer(request: Request, status: HTTPStatus, detail: str, **facts: Any) -> Response:
    document = without_paths(ProblemDocument(title=status.phrase, status=status, detail=detail, **facts))
    if "/api/" not in request.url.path and "text/html" in request.headers.get("accept", ""):
        here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        context = {"problem": document, "here": here if request.method == "GET" else ""}
        return render(request, "problem.html.j2", context, status=status)
    return JSONResponse(document.model_dump(), status_code=status, media_type=MEDIA_TYPE)


def without_paths(document: ProblemDocument) -> ProblemDocument:
    """Return the document without folders of this machine: a file is named as in the store, or in its folder."""
    settings = Settings()
    folders = {
        settings.store: "the store",
        str(settings.campaigns): "the definitions",
        str(settings.cache): "the cache",
        str(settings.work): "the local clusters",
        str(Path.home()): "~",
    }
    folders.pop("/", None)  # the home of a user without one
    text = document.model_dump_json()
    # Longest first, for one folder may lie in another: the store in the home, for example
    for folder, name in sorted(folders.items(), key=lambda item: -len(item[0])):
        # As the folder stands in JSON, where a quote or a backslash is escaped
        inner = json.dumps(folder)[1:-1]
        text = re.sub(f"(file://)?{re.escape(inner)}/+", "~/" if name == "~" else "", text)
        text = re.sub(rf"(file://)?{re.escape(inner)}(?![\w-])", name, text)
    return ProblemDocument.model_validate_json(text)
