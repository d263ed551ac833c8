"""Plimsoll's app as the api-server mounts it, with Airflow's own auth manager; users of it by their tokens."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.testclient import TestClient
from tests.fakes.installation import instant_definition

DEFINITION = instant_definition("demo", variants=3, loads=2, repeats=1)
CAMPAIGN = "demo-mine"
__all__ = ["CAMPAIGN", "DEFINITION", "Client", "TestClient", "audited", "mounted", "token_of"]

Client = Callable[..., TestClient]


@contextmanager
def mounted() -> Iterator[FastAPI]:
    """Mount Plimsoll's app below its prefix, with the middleware that Airflow puts before every app."""
    from airflow.api_fastapi.app import init_auth_manager, purge_cached_app
    from airflow.api_fastapi.auth.middlewares.refresh_token import JWTRefreshMiddleware

    from plimsoll_airflow.web.app import create_app

    root = FastAPI()
    root.mount("/plimsoll", create_app())
    root.add_middleware(JWTRefreshMiddleware)
    init_auth_manager(root)
    yield root
    purge_cached_app()


def token_of(role: str, *, lifetime_s: int = 3600) -> str:
    from airflow.api_fastapi.app import get_auth_manager
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser

    manager: Any = get_auth_manager()
    token: str = manager.generate_jwt(
        SimpleAuthManagerUser(username=f"the {role}", role=role), expiration_time_in_seconds=lifetime_s
    )
    return token


def audited(event: str) -> list[tuple[str | None, str]]:
    """Tell who did it and what is told of it, in Airflow's audit log: the oldest first, those of earlier tests too."""
    from airflow.models.log import Log
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        found = session.scalars(select(Log).where(Log.event == event).order_by(Log.id))
        return [(entry.owner, entry.extra or "") for entry in found]
