"""Plimsoll's plugin, which Airflow finds by the entry point `airflow.plugins` of the installed package."""

from functools import cached_property
from typing import Any

from airflow.plugins_manager import AirflowPlugin
from starlette.types import ASGIApp, Receive, Scope, Send

from plimsoll_airflow import lifecycle
from plimsoll_airflow.operators.links import CellTaskLink
from plimsoll_airflow.runs import installation
from plimsoll_airflow.web import NAME, PREFIX
from plimsoll_airflow.web.middleware import Middleware


class LazyApp:
    """An ASGI app that imports the real one on first use. Only the api-server needs it; every process loads plugins."""

    @cached_property
    def app(self) -> ASGIApp:
        from plimsoll_airflow.web.app import create_app

        return create_app()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> Any:
        await self.app(scope, receive, send)


class PlimsollPlugin(AirflowPlugin):
    name = "plimsoll"
    listeners = [lifecycle, installation]
    operator_extra_links = [CellTaskLink()]
    fastapi_apps = [{"name": "Plimsoll", "app": LazyApp(), "url_prefix": PREFIX}]
    fastapi_root_middlewares = [{"name": "Plimsoll", "middleware": Middleware}]
    external_views = [
        {
            "name": "Plimsoll",
            "href": f"{PREFIX}/",
            "destination": "nav",
            "url_route": NAME,
            "nav_top_level": True,
            "icon": f"{PREFIX}/static/icon.svg",
            "icon_dark_mode": f"{PREFIX}/static/icon-dark.svg",
        },
        {
            "name": "Campaign",
            "href": f"{PREFIX}/run?dag_id={{DAG_ID}}&run_id={{RUN_ID}}",
            "destination": "dag_run",
            "url_route": f"{NAME}-run",
        },
        {
            "name": "Trend",
            "href": f"{PREFIX}/trend?dag_id={{DAG_ID}}",
            "destination": "dag",
            "url_route": f"{NAME}-trend",
        },
    ]
