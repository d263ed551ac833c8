"""What the cloud counts, over HTTP, for tests in other processes: JSON below `/_cloud/`."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response

if TYPE_CHECKING:
    from tests.cloud.cloud import Cloud


class Admin:
    """A WSGI application."""

    def __init__(self, cloud: "Cloud") -> None:
        self._answers: dict[str, Callable[[], Any]] = {
            "/_cloud/summary": cloud.summary,
            "/_cloud/leftovers": cloud.leftovers,
            # All that ever lived.
            "/_cloud/instances": lambda: [asdict(entry) for entry in cloud.census.entries.values()],
        }

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer JSON with JSON; 404 and 400 give the reason in `error`."""
        answer = self._answers.get(environ["PATH_INFO"])
        if answer is None:
            return NotFound()(environ, start_response)
        return Response(json.dumps(answer()), content_type="application/json")(environ, start_response)
