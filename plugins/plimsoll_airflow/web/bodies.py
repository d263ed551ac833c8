"""Bound the bodies of requests: FastAPI reads a body before it asks who sends it."""

from http import HTTPStatus

from fastapi import FastAPI, HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BYTES = 256 << 10
"""The greatest size of a body: more than any form or document of the API can take."""


def install(app: FastAPI) -> None:
    """Answer 413 to every request with a body that is larger than LARGEST_BYTES, and read no more of it."""
    app.add_middleware(_SmallBodies)


class _SmallBodies:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        taken = 0

        async def receive_little() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > LARGEST_BYTES:
                what = f"the request's body is larger than {LARGEST_BYTES >> 10} KiB"
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, what)
            return message

        await self._app(scope, receive_little, send)
