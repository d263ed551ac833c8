"""The app, made at the first request. Only the api-server needs it, but every process loads plugins."""

from functools import cached_property
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send


class LazyApp:
    """An ASGI app that imports the real one on first use."""

    @cached_property
    def app(self) -> ASGIApp:
        """Return the real app."""
        from plimsoll_airflow.web.app import create_app

        return create_app()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> Any:
        """Pass a request to the real app."""
        await self.app(scope, receive, send)
