"""The FastAPI app. Rules for every route are set here, so that a new route can't forget them."""

from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse

from plimsoll import __version__
from plimsoll_airflow.web import api, matrix, pages, problems, trend
from plimsoll_airflow.web.access import require_own_page, require_permission
from plimsoll_airflow.web.rendering import Bounds, base_of

_ABOUT = """Plans, campaigns, cells, verdicts, capacities and reports. Send a token of Airflow's (`POST /auth/token`) as
`Authorization: Bearer …`. Runs are started, followed and cleared by Airflow's own API. Errors are problem documents
(RFC 9457) that say what is wrong, where, and how to mend it."""


def create_app() -> FastAPI:
    app = FastAPI(
        title="Plimsoll",
        version=__version__,
        description=_ABOUT,
        dependencies=[Depends(require_permission), Depends(require_own_page)],
        # These would be open to anyone; the document is served below, the other two load scripts from elsewhere.
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
    )
    problems.install(app)
    app.add_middleware(Bounds)
    app.include_router(api.router)
    app.include_router(trend.api)

    @app.get("/api/v1/openapi.json", include_in_schema=False)
    def openapi(request: Request) -> JSONResponse:
        return JSONResponse({**app.openapi(), "servers": [{"url": base_of(request)}]})

    app.include_router(pages.router)
    app.include_router(trend.pages)
    app.include_router(matrix.pages)
    return app
